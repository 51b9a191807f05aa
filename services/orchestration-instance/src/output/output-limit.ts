import type { OutputStream } from '@slipway/commands'
import type { OutputLine } from './line-splitter.ts'

/** The end of a cut output stays in memory, so it is smaller than the beginning. */
const MAX_TAIL_BYTES = 256 * 1024

interface OmittedOutput {
  lines: number
  bytes: number
}

interface HeldLine {
  stream: OutputStream
  line: OutputLine
  bytes: number
}

export interface OutputLimitOptions {
  /** The limit of both streams together, in bytes with line ends. */
  maxBytes: number
  onLine(stream: OutputStream, line: OutputLine): void
  /** Called for the first line that is left out. */
  onCut(): void
  /** Called at the end of the output, before the last lines, with the size of the missing part. */
  onLeftOut(leftOut: OmittedOutput): void
}

/** Passes on the beginning of an output, and at its end the last lines. Leaves out the middle of an output that is too long. */
export class OutputLimit {
  readonly #options: OutputLimitOptions
  readonly #tailBytes: number
  #headLeft: number
  #heldFrom = 0
  #held: HeldLine[] = []
  #heldBytes = 0
  readonly #leftOut: OmittedOutput = { lines: 0, bytes: 0 }

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
    // Without this, a later shorter line could come before this one.
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
    // Compacting the array at every line would be slow.
    if (this.#heldFrom < 1_024 || this.#heldFrom * 2 < this.#held.length) return
    this.#held = this.#held.slice(this.#heldFrom)
    this.#heldFrom = 0
  }
}
