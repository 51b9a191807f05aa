import { MAX_LINE_BYTES, splitLine } from '@slipway/domain'
import type { Masker } from './masking.ts'

export interface OutputLine {
  text: string
  /** Whether it is a piece of a line that was too long. */
  split: boolean
}

/**
 * Turns the bytes of one stream into masked lines. A line ends with \n, or with the stream; a \r stays in it. What is
 * no UTF-8, and NUL, which Postgres cannot keep, becomes U+FFFD. Holds no more than about one line's limit in memory.
 */
export class LineSplitter {
  readonly #masker: Masker
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The part of the current line that is not masked yet, and the part that is but has not been given out. */
  #raw = ''
  #masked = ''
  #splitting = false

  constructor(masker: Masker) {
    this.#masker = masker
  }

  write(chunk: Buffer): OutputLine[] {
    return this.#take(this.#decoder.decode(chunk, { stream: true }))
  }

  /** The stream has ended: what is left is a line. */
  end(): OutputLine[] {
    const lines = this.#take(this.#decoder.decode())
    return this.#raw === '' && this.#masked === '' ? lines : [...lines, ...this.#endLine()]
  }

  #take(decoded: string): OutputLine[] {
    const lines: OutputLine[] = []
    const parts = decoded.replaceAll('\0', '\uFFFD').split('\n')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      this.#raw += part
      lines.push(...this.#endLine())
    }
    this.#raw += last
    if (this.#raw.length > MAX_LINE_BYTES + this.#masker.longest) lines.push(...this.#cutLine())
    return lines
  }

  #endLine(): OutputLine[] {
    const pieces = splitLine(this.#masked + this.#masker.mask(this.#raw))
    const split = this.#splitting || pieces.length > 1
    this.#raw = ''
    this.#masked = ''
    this.#splitting = false
    return pieces.map((text) => ({ text, split }))
  }

  /** Gives out the full pieces of a line that goes on. */
  #cutLine(): OutputLine[] {
    const { masked, rest } = this.#masker.maskBeginning(this.#raw)
    this.#raw = rest
    const pieces = splitLine(this.#masked + masked)
    this.#masked = pieces.pop() ?? ''
    if (pieces.length > 0) this.#splitting = true
    return pieces.map((text) => ({ text, split: true }))
  }
}
