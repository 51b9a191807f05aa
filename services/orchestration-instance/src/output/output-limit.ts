import type { OutputStream } from '@slipway/execution'
import type { OutputLine } from './line-splitter.ts'

/** The end of an output that was cut is held in memory, so it is small beside the beginning. */
const MAX_TAIL_BYTES = 256 * 1024

export interface LeftOut {
  lines: number
  bytes: number
}

interface HeldLine {
  stream: OutputStream
  line: OutputLine
  bytes: number
}

export interface OutputLimitOptions {
  /** Bytes of both streams together that are handed on, line ends included. */
  maxBytes: number
  onLine(stream: OutputStream, line: OutputLine): void
  /** The first line has been left out; more may follow. */
  onCut(): void
  /** The output has ended: so much is missing before the lines that come now. */
  onLeftOut(leftOut: LeftOut): void
}

/** Hands on the beginning of an output, and when it has ended its end, whatever was written in between. */
export class OutputLimit {
  readonly #options: OutputLimitOptions
  readonly #tailBytes: number
  #headLeft: number
  #heldFrom = 0
  #held: HeldLine[] = []
  #heldBytes = 0
  readonly #leftOut: LeftOut = { lines: 0, bytes: 0 }

  constructor(options: OutputLimitOptions) {
    this.#options = options
    this.#tailBytes = Math.min(MAX_TAIL_BYTES, Math.floor(options.maxBytes / 2))
    this.#headLeft = options.maxBytes - this.#tailBytes
  }

  add(stream: OutputStream, line: OutputLine): void {
    const bytes = Buffer.byteLength(line.text) + 1
    if (bytes <= this.#headLeft) {
      this.#headLeft -= bytes
      this.#options.onLine(stream, line)
      return
    }
    // A shorter line that would still fit must not come before this one.
    this.#headLeft = 0
    this.#held.push({ stream, line, bytes })
    this.#heldBytes += bytes
    while (this.#heldBytes > this.#tailBytes) this.#leaveOut()
  }

  end(): void {
    if (this.#leftOut.lines > 0) this.#options.onLeftOut(this.#leftOut)
    for (const { stream, line } of this.#held.slice(this.#heldFrom)) this.#options.onLine(stream, line)
    this.#held = []
    this.#heldFrom = 0
    this.#heldBytes = 0
  }

  #leaveOut(): void {
    const oldest = this.#held[this.#heldFrom]
    if (!oldest) return
    if (this.#leftOut.lines === 0) this.#options.onCut()
    this.#heldFrom += 1
    this.#heldBytes -= oldest.bytes
    this.#leftOut.lines += 1
    this.#leftOut.bytes += oldest.bytes
    // Moving what is left at every line would cost more than the lines.
    if (this.#heldFrom < 1_024 || this.#heldFrom * 2 < this.#held.length) return
    this.#held = this.#held.slice(this.#heldFrom)
    this.#heldFrom = 0
  }
}
