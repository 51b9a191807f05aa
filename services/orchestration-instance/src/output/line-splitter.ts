import { MAX_LINE_BYTES, splitLine } from '@slipway/domain'
import { type Masker, MaskingStream } from './masking.ts'

export interface OutputLine {
  text: string
  /** Whether the text is one piece of a line that was too long. */
  split: boolean
}

/**
 * Turns the bytes of one stream into masked lines. A line ends with \n or with the stream; a \r stays in the line. Bytes that
 * are not UTF-8 become U+FFFD, and so does NUL, because Postgres cannot store it. Memory is bounded: a long line is split,
 * and the text that is held back is no longer than a secret.
 */
export class LineSplitter {
  readonly #stream: MaskingStream
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The part of the current line that was not returned yet. */
  #line = ''
  #isSplit = false

  constructor(masker: Masker) {
    this.#stream = new MaskingStream(masker)
  }

  /** Whether lines are held back because a secret may start in them. */
  get holdsLine(): boolean {
    return this.#stream.holdsLine
  }

  write(chunk: Buffer): OutputLine[] {
    return this.#split(this.#stream.write(this.#decode(chunk)))
  }

  /** Returns lines that are held back for a match too short to reveal a secret. */
  release(): OutputLine[] {
    return this.#split(this.#stream.release())
  }

  /** Returns the rest of the stream. */
  end(): OutputLine[] {
    const lines = this.#split(this.#stream.write(this.#decode()) + this.#stream.end())
    return this.#line === '' ? lines : [...lines, ...this.#endLine()]
  }

  #decode(chunk?: Buffer): string {
    return this.#decoder.decode(chunk, { stream: chunk !== undefined }).replaceAll('\0', '\uFFFD')
  }

  #split(masked: string): OutputLine[] {
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

  /** Returns the full pieces of an incomplete line. */
  #cutLine(): OutputLine[] {
    const pieces = splitLine(this.#line)
    this.#line = pieces.pop() ?? ''
    this.#isSplit = true
    return pieces.map((text) => ({ text, split: true }))
  }
}
