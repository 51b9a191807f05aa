import { type Colour, harmless, hasColours, paint } from './colour.ts'
import { table } from './table.ts'

export const FORMATS = ['table', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]

export type Column<T> = [title: string, cell: (record: T) => string | number | null | undefined]

/** What a command has to say, on stdout: for people, or for programs. */
export class Output {
  readonly format: Format
  readonly #colours = hasColours(process.stdout)

  constructor(format: Format) {
    this.format = format
  }

  get forPeople(): boolean {
    return this.format === 'table'
  }

  paint(text: string, colour: Colour): string {
    return paint(text, colour, this.#colours)
  }

  line(text = ''): void {
    process.stdout.write(`${text}\n`)
  }

  /** On stderr: whoever parses the answer is not disturbed. */
  warn(warnings: readonly string[]): void {
    const colours = hasColours(process.stderr)
    for (const warning of warnings) {
      process.stderr.write(`${paint(`warning: ${harmless(warning)}`, 'yellow', colours)}\n`)
    }
  }

  /** A list of records, one on a line. */
  async list<T>(records: readonly T[], columns: readonly Column<T>[], none: string): Promise<void> {
    if (!this.forPeople) return await this.data(records)
    if (records.length === 0) return this.line(none)
    const rows = records.map((record) => columns.map(([, cell]) => harmless(String(cell(record) ?? '-'))))
    const [head = '', ...lines] = table(
      columns.map(([title]) => title),
      rows,
    )
    this.line(this.paint(head, 'bold'))
    for (const line of lines) this.line(line)
  }

  /** One record, which people read as the given lines. */
  async record(value: unknown, lines: () => readonly string[]): Promise<void> {
    if (!this.forPeople) return await this.data(value)
    for (const line of lines()) this.line(line)
  }

  /** The data itself. */
  async data(value: unknown): Promise<void> {
    if (this.format === 'yaml') process.stdout.write((await import('yaml')).stringify(value))
    else process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
  }

  /** One of many that come one after the other: a line of JSON, or a document of YAML. */
  async item(value: unknown): Promise<void> {
    if (this.format === 'yaml') process.stdout.write(`---\n${(await import('yaml')).stringify(value)}`)
    else process.stdout.write(`${JSON.stringify(value)}\n`)
  }
}
