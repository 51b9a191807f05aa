import { type Colour, hasColours, paint, sanitize } from './colour.ts'
import { formatFields, getRecordName, type Path, pickFields, readField } from './fields.ts'
import { formatTable, localizeTimes } from './table.ts'
import { formatYaml } from './yaml.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'yaml', 'name'] as const
export type Format = (typeof FORMATS)[number]

export type Column<T> = [title: string, cell: (record: T) => string | number | null | undefined]

function writeToStdout(text: string): void {
  process.stdout.write(text)
}

/** Prints the answer of a command on stdout: as a table for people, or in a format for programs. */
export class Output {
  readonly format: Format
  readonly #fields: readonly Path[]
  readonly #colours = hasColours(process.stdout)

  readonly #write: (text: string) => void

  constructor(format: Format, fields: readonly Path[] = [], write = writeToStdout) {
    this.format = format
    this.#fields = fields
    this.#write = write
  }

  /** The same output, written to another place. */
  writingTo(write: (text: string) => void): Output {
    return new Output(this.format, this.#fields, write)
  }

  /** False with `--select`, too: fields that are selected go to a program. */
  get isForPeople(): boolean {
    return this.format === 'table' && this.#fields.length === 0
  }

  paint(text: string, colour: Colour): string {
    return paint(text, colour, this.#colours)
  }

  writeLine(text = ''): void {
    this.#write(`${text}\n`)
  }

  /** Prints warnings on stderr: a program must be able to parse stdout. */
  warn(warnings: readonly string[]): void {
    const colours = hasColours(process.stderr)
    for (const warning of warnings) {
      process.stderr.write(`${paint(`warning: ${sanitize(localizeTimes(warning))}`, 'yellow', colours)}\n`)
    }
  }

  /**
   * Prints records, for people one on each line. With `getName`, `-o name` prints these names, each once, for records that have no name
   * of their own.
   */
  printList<T>(
    records: readonly T[],
    columns: readonly Column<T>[],
    none: string,
    getName?: (record: T) => string,
  ): void {
    if (this.format === 'name' && getName) this.printNames(records.map(getName))
    else if (!this.isForPeople) this.printData(records)
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

  /** Prints each name once, on a line of its own. */
  printNames(names: readonly string[]): void {
    for (const name of new Set(names)) this.writeLine(sanitize(name))
  }

  /** Prints a record or a list of records. */
  printData(value: unknown): void {
    const records = Array.isArray(value) ? value : [value]
    if (this.format === 'json') this.writeLine(JSON.stringify(this.#select(value), null, 2))
    else if (this.format === 'yaml') this.#write(formatYaml(this.#select(value)))
    else for (const record of records) this.writeLine(this.#formatLine(record))
    this.#warnOfUnknownFields(records)
  }

  /** Prints one value of a stream: a document of YAML, else one line. */
  printItem(value: unknown): void {
    if (this.format === 'yaml') this.#write(`---\n${formatYaml(this.#select(value))}`)
    else this.writeLine(this.#formatLine(value))
  }

  /** Without control characters, unless JSON escapes them. */
  #formatLine(record: unknown): string {
    if (this.format === 'name') return sanitize(getRecordName(record))
    if (this.format === 'table') return formatFields(record, this.#fields).split('\t').map(sanitize).join('\t')
    return JSON.stringify(this.#select(record))
  }

  #select(value: unknown): unknown {
    if (this.#fields.length === 0) return value
    return Array.isArray(value) ? value.map((one) => pickFields(one, this.#fields)) : pickFields(value, this.#fields)
  }

  #warnOfUnknownFields(records: readonly unknown[]): void {
    const isUnknown = (path: Path) => records.every((record) => readField(record, path) === undefined)
    if (records.length === 0) return
    this.warn(this.#fields.filter(isUnknown).map((path) => `--select: no record has the field ${path.join('.')}`))
  }
}
