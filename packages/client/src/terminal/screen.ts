import type { WriteStream } from 'node:tty'

/**
 * Lines, and below them one line that is redrawn in place. Where the output is no terminal, that line is printed like
 * the others whenever its text changes.
 */
export class Screen {
  readonly isTerminal: boolean
  readonly #output: NodeJS.WritableStream
  #status = ''

  constructor(output: NodeJS.WritableStream = process.stdout) {
    this.#output = output
    this.isTerminal = (output as WriteStream).isTTY === true
  }

  line(text: string): void {
    if (this.isTerminal && this.#status !== '') this.#output.write(`\r\x1b[K${text}\n${this.#status}`)
    else this.#output.write(`${text}\n`)
  }

  status(text: string): void {
    const fitting = this.isTerminal ? text.slice(0, (this.#columns() || 80) - 1) : text
    if (fitting === this.#status) return
    this.#status = fitting
    this.#output.write(this.isTerminal ? `\r\x1b[K${fitting}` : `${fitting}\n`)
  }

  /** Leaves the last status standing; later lines come below it. */
  endStatus(): void {
    if (this.isTerminal && this.#status !== '') this.#output.write('\n')
    this.#status = ''
  }

  /** Colours a text where a terminal shows it. */
  paint(text: string, colour: 'red' | 'green' | 'yellow' | 'dim'): string {
    const code = { red: 31, green: 32, yellow: 33, dim: 2 }[colour]
    return this.isTerminal && !process.env['NO_COLOR'] ? `\x1b[${code}m${text}\x1b[0m` : text
  }

  #columns(): number {
    return (this.#output as WriteStream).columns
  }
}

/** `[#####-----]  5 of 10 steps`, with what runs behind it. */
export function progressText(
  share: number,
  done: number,
  total: number,
  running: readonly string[],
  bar: boolean,
): string {
  const width = 24
  const filled = Math.round(Math.min(Math.max(share, 0), 1) * width)
  const drawing = bar ? `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ` : 'progress: '
  const [first, ...others] = running
  const doing = first === undefined ? '' : `  ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`
  return `${drawing}${done} of ${total} steps (${Math.round(share * 100)} %)${doing}`
}

/** Rows under a head, columns aligned; the last column is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const last = head.length - 1
  return [head, ...rows].map((row) =>
    row.map((cell, column) => (column === last ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
  )
}
