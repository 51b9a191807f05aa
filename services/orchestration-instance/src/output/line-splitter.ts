import { MAX_LINE_BYTES, splitLine } from '@slipway/domain'
import { type Masker, MaskingStream } from './masking.ts'

export interface OutputLine {
  text: string
  /** Whether it is a piece of a line that was too long. */
  split: boolean
}

/**
 * Turns the bytes of one stream into masked lines. A line ends with \n, or with the stream; a \r stays in it. What is
 * no UTF-8, and NUL, which Postgres cannot keep, becomes U+FFFD. Memory is bounded: a long line is split, and what may be
 * the beginning of a secret is kept back no longer than the secret can be.
 */
export class LineSplitter {
  readonly #stream: MaskingStream
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The part of the current line that has not been given out. */
  #line = ''
  #isSplit = false

  constructor(masker: Masker) {
    this.#stream = new MaskingStream(masker)
  }

  /** Whether lines are kept back because a secret may begin in them. */
  get keepsLine(): boolean {
    return this.#stream.keepsLine
  }

  write(chunk: Buffer): OutputLine[] {
    return this.#take(this.#stream.write(this.#decode(chunk)))
  }

  /** Gives out lines that are kept back for too little to tell anything of a secret. */
  release(): OutputLine[] {
    return this.#take(this.#stream.release())
  }

  /** The stream has ended: what is left is a line. */
  end(): OutputLine[] {
    const lines = this.#take(this.#stream.write(this.#decode()) + this.#stream.end())
    return this.#line === '' ? lines : [...lines, ...this.#endLine()]
  }

  #decode(chunk?: Buffer): string {
    return this.#decoder.decode(chunk, { stream: chunk !== undefined }).replaceAll('\0', '\uFFFD')
  }

  #take(masked: string): OutputLine[] {
    const lines: OutputLine[] = []
    const parts = masked.split('\n')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      this.#line += part
      lines.push(...this.#endLine())
    }
    this.#line += last
    if (this.#line.length > MAX_LINE_BYTES) lines.push(...this.#cutLine())
    return lines
  }

  #endLine(): OutputLine[] {
    const pieces = splitLine(this.#line)
    const split = this.#isSplit || pieces.length > 1
    this.#line = ''
    this.#isSplit = false
    return pieces.map((text) => ({ text, split }))
  }

  /** Gives out the full pieces of a line that goes on. */
  #cutLine(): OutputLine[] {
    const pieces = splitLine(this.#line)
    this.#line = pieces.pop() ?? ''
    this.#isSplit = true
    return pieces.map((text) => ({ text, split: true }))
  }
}
