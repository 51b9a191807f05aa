import { stringify } from 'yaml'
import { type Colour, hasColours, paint, sanitize } from './colour.ts'
import { formatTable } from './table.ts'

export const FORMATS = ['table', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]

export type Column<T> = [title: string, cell: (record: T) => string | number | null | undefined]

/** Prints the answer of a command on stdout: as a table for people, or as JSON or YAML for programs. */
export class Output {
  readonly format: Format
  readonly #colours = hasColours(process.stdout)

  constructor(format: Format) {
    this.format = format
  }

  get isForPeople(): boolean {
    return this.format === 'table'
  }

  paint(text: string, colour: Colour): string {
    return paint(text, colour, this.#colours)
  }

  writeLine(text = ''): void {
    process.stdout.write(`${text}\n`)
  }

  /** Prints warnings on stderr: a program must be able to parse stdout. */
  warn(warnings: readonly string[]): void {
    const colours = hasColours(process.stderr)
    for (const warning of warnings) {
      process.stderr.write(`${paint(`warning: ${sanitize(warning)}`, 'yellow', colours)}\n`)
    }
  }

  /** Prints records, for people one on each line. */
  printList<T>(records: readonly T[], columns: readonly Column<T>[], none: string): void {
    if (!this.isForPeople) this.printData(records)
    else if (records.length === 0) this.writeLine(none)
    else this.#printTable(records, columns)
  }

  #printTable<T>(records: readonly T[], columns: readonly Column<T>[]): void {
    const rows = records.map((record) => columns.map(([, cell]) => sanitize(String(cell(record) ?? '-'))))
    const [head = '', ...lines] = formatTable(
      columns.map(([title]) => title),
      rows,
    )
    this.writeLine(this.paint(head, 'bold'))
    for (const line of lines) this.writeLine(line)
  }

  /** Prints one record, for people as the given lines. */
  printRecord(value: unknown, lines: () => readonly string[]): void {
    if (this.isForPeople) for (const line of lines()) this.writeLine(line)
    else this.printData(value)
  }

  /** Prints a value as JSON or YAML. */
  printData(value: unknown): void {
    if (this.format === 'yaml') process.stdout.write(stringify(value))
    else process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
  }

  /** Prints one value of a stream: a line of JSON, or a document of YAML. */
  printItem(value: unknown): void {
    if (this.format === 'yaml') process.stdout.write(`---\n${stringify(value)}`)
    else process.stdout.write(`${JSON.stringify(value)}\n`)
  }
}
