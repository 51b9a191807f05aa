import { MAX_LINE_BYTES, splitLine } from '@slipway/domain'
import { type Masker, MaskingStream } from './masking.ts'

export interface OutputLine {
  text: string
  /** Whether the text is one piece of a line that was too long. */
  split: boolean
}

/**
 * Turns the bytes of one stream into masked lines, as a terminal shows them. A line ends with \n, \r\n or the stream. Text after
 * a \r replaces the text before it, apart from pieces of a long line that were returned. Bytes that are not UTF-8 become U+FFFD, and so does NUL, because Postgres cannot store it.
 * Memory is bounded: a long line is split, and the text that is held back is no longer than a secret.
 */
export class LineSplitter {
  readonly #stream: MaskingStream
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The part of the current line that was not returned yet. */
  #line = ''
  #isSplit = false
  /** Whether a \r stands behind `#line`. The next text replaces the line. */
  #isReturned = false
  #endedLines = 0

  constructor(masker: Masker) {
    this.#stream = new MaskingStream(masker)
  }

  /** Whether lines are held back because a secret may start in them. */
  get holdsLine(): boolean {
    return this.#stream.holdsLine
  }

  /** The current line without text that may be the start of a secret. `number` tells it from other lines of this stream. */
  get unfinished(): { number: number; text: string } {
    return { number: this.#endedLines, text: this.#line }
  }

  /** Whether masking stopped at its deadline. Writing an empty chunk goes on with it. */
  get isBehind(): boolean {
    return this.#stream.isBehind
  }

  /** Masks until the deadline, by performance.now(). */
  write(chunk: Uint8Array, deadline?: number): OutputLine[] {
    return this.#split(this.#stream.write(this.#decode(chunk), deadline))
  }

  /** Returns lines that are held back for a match too short to reveal a secret. */
  release(): OutputLine[] {
    return this.#split(this.#stream.release())
  }

  /** Returns the rest of the stream. */
  end(): OutputLine[] {
    const lines = this.#split(this.#stream.write(this.#decode()) + this.#stream.end())
    if (this.#line !== '') this.#endLine(lines)
    return lines
  }

  #decode(chunk?: Uint8Array): string {
    return this.#decoder.decode(chunk, { stream: chunk !== undefined }).replaceAll('\0', '\uFFFD')
  }

  #split(masked: string): OutputLine[] {
    const lines: OutputLine[] = []
    const parts = masked.split('\n')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      this.#append(part, lines)
      this.#endLine(lines)
    }
    this.#append(last, lines)
    return lines
  }

  #append(text: string, lines: OutputLine[]): void {
    const [first = '', ...others] = text.split('\r')
    this.#extend(first, lines)
    for (const replacement of others) {
      this.#isReturned = true
      this.#extend(replacement, lines)
    }
  }

  /** Takes as much as makes the line too long, so that the pieces do not depend on how the output arrives. */
  #extend(text: string, lines: OutputLine[]): void {
    if (text === '') return
    if (this.#isReturned) this.#line = ''
    this.#isReturned = false
    for (let at = 0; at < text.length; ) {
      let end = at + MAX_LINE_BYTES + 1 - this.#line.length
      if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1
      this.#line += text.slice(at, end)
      at = end
      if (this.#line.length > MAX_LINE_BYTES) lines.push(...this.#cutLine())
    }
  }

  #endLine(lines: OutputLine[]): void {
    const pieces = splitLine(this.#line)
    const split = this.#isSplit || pieces.length > 1
    this.#line = ''
    this.#isSplit = false
    this.#isReturned = false
    this.#endedLines += 1
    for (const text of pieces) lines.push({ text, split })
  }

  /** Returns the full pieces of an incomplete line. */
  #cutLine(): OutputLine[] {
    const pieces = splitLine(this.#line)
    this.#line = pieces.pop() ?? ''
    this.#isSplit = true
    return pieces.map((text) => ({ text, split: true }))
  }
}

/** The first half of a character of two code units. */
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
