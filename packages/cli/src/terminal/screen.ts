import type { Io, OutputStream } from '../io.ts'
import { type Colour, hasColours, paint } from './colour.ts'

const REDRAW_MS = 40

/**
 * Writes lines. On a terminal it also keeps a few status lines below them and redraws these in place.
 * It gathers output for REDRAW_MS before it writes. Without this, a fast log flickers.
 */
export class Screen {
  readonly isTerminal: boolean
  readonly #output: OutputStream
  readonly #colours: boolean
  #lines = ''
  #status: readonly string[] = []
  #drawn = 0
  #timer: NodeJS.Timeout | undefined

  constructor(output: OutputStream, env: Io['env']) {
    this.#output = output
    this.isTerminal = output.isTTY === true
    this.#colours = hasColours(output, env)
  }

  writeLine(text: string): void {
    if (!this.isTerminal) {
      this.#output.write(`${text}\n`)
      return
    }
    this.#lines += `${text}\n`
    this.#scheduleDraw()
  }

  /** Writes to another stream of the same terminal, above the status. */
  writeAside(output: OutputStream, text: string): void {
    const status = this.#status
    if (this.isTerminal) {
      clearTimeout(this.#timer)
      this.#status = []
      this.#draw()
    }
    output.write(`${text}\n`)
    this.setStatus(status)
  }

  /** Sets the lines below the log. Does nothing if the output is not a terminal. */
  setStatus(lines: readonly string[]): void {
    if (!this.isTerminal) return
    this.#status = lines
    this.#scheduleDraw()
  }

  /** Writes the remaining lines and the last status, then removes the status. */
  end(): void {
    clearTimeout(this.#timer)
    this.#draw()
    this.#status = []
    this.#draw()
  }

  paint(text: string, colour: Colour): string {
    return paint(text, colour, this.#colours)
  }

  get columns(): number {
    return this.#output.columns || 80
  }

  get rows(): number {
    return this.#output.rows || 24
  }

  #scheduleDraw(): void {
    this.#timer ??= setTimeout(() => this.#draw(), REDRAW_MS)
  }

  #draw(): void {
    this.#timer = undefined
    const erase = this.#drawn > 0 ? `\x1b[${this.#drawn}A\x1b[J` : ''
    const text = `${erase}${this.#lines}${this.#status.map((line) => `${line}\n`).join('')}`
    this.#drawn = this.#status.length
    this.#lines = ''
    if (text !== '') this.#output.write(text)
  }
}

export function formatBar(share: number, width: number): string {
  const filled = Math.round(Math.min(Math.max(share, 0), 1) * width)
  return `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`
}
