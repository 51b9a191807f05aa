import { UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { type Colour, hasColours, paint } from './colour.ts'
import { escapeControls, sanitize } from './controls.ts'
import { formatFields, getRecordName, type Path, pickFields, readField } from './fields.ts'
import { formatCells, formatTable, localizeTimes, type TableTime } from './table.ts'
import { formatYaml } from './yaml.ts'

export const FORMATS = ['table', 'json', 'jsonl', 'yaml', 'name'] as const
export type Format = (typeof FORMATS)[number]

export type Column<T> = [title: string, cell: (record: T) => string | number | TableTime | null | undefined]

interface ListOptions<T> {
  /** For records without a name of their own: `-o name` prints each of these names once. */
  getName?: (record: T) => string
  /** The API leaves out fields of these records, so `--select` cannot tell whether a field is unknown. */
  hasOptionalFields?: boolean
}

/** Prints the answer of a command on stdout: as a table for people, or in a format for programs. */
export class Output {
  readonly format: Format
  readonly #io: Io
  readonly #fields: readonly Path[]
  readonly #colours: boolean
  readonly #write: (text: string) => void

  constructor(io: Io, format: Format, fields: readonly Path[] = [], write?: (text: string) => void) {
    this.format = format
    this.#io = io
    this.#fields = fields
    this.#colours = hasColours(io.stdout, io.env)
    this.#write = write ?? ((text) => io.stdout.write(text))
  }

  /** The same output, written to another place. */
  writingTo(write: (text: string) => void): Output {
    return new Output(this.#io, this.format, this.#fields, write)
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
    const { stderr, env } = this.#io
    const colours = hasColours(stderr, env)
    for (const warning of warnings) {
      stderr.write(`${paint(`warning: ${sanitize(localizeTimes(warning))}`, 'yellow', colours)}\n`)
    }
  }

  /** Prints records, for people one on each line. */
  printList<T>(
    records: readonly T[],
    columns: readonly Column<T>[],
    none: string,
    { getName, hasOptionalFields }: ListOptions<T> = {},
  ): void {
    if (!hasOptionalFields) this.#refuseUnknownFields(records)
    if (this.format === 'name' && getName) this.printNames(records.map(getName))
    else if (!this.isForPeople) this.printData(records)
    else if (records.length === 0) this.writeLine(none)
    else this.#printTable(records, columns)
  }

  #printTable<T>(records: readonly T[], columns: readonly Column<T>[]): void {
    const cells = columns.map(([, cell]) => formatCells(records.map(cell)))
    const rows = records.map((_, row) => cells.map((column) => sanitize(column[row] ?? '-')))
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
    if (this.format === 'json') this.writeLine(escapeControls(JSON.stringify(this.#select(value), null, 2)))
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
    return escapeControls(JSON.stringify(this.#select(record)))
  }

  #select(value: unknown): unknown {
    if (this.#fields.length === 0) return value
    return Array.isArray(value) ? value.map((one) => pickFields(one, this.#fields)) : pickFields(value, this.#fields)
  }

  /**
   * Only for lists, which change nothing: a program must not take a deployment that has started for wrong usage. Fields inside of
   * others, such as `variables.port`, depend on the records.
   * @throws UsageError if no record has a field of `--select`
   */
  #refuseUnknownFields(records: readonly unknown[]): void {
    if (records.length === 0) return
    const isUnknown = ([name = '']: Path) => records.every((record) => !Object.hasOwn(Object(record), name))
    const unknown = this.#fields.filter(isUnknown).map((path) => path.join('.'))
    if (unknown.length === 0) return
    const known = Object.keys(Object(records[0])).join(', ')
    throw new UsageError(`--select: no record has the field ${unknown.join(', ')}; there are: ${known}`)
  }

  #warnOfUnknownFields(records: readonly unknown[]): void {
    const isUnknown = (path: Path) => records.every((record) => readField(record, path) === undefined)
    if (records.length === 0) return
    this.warn(this.#fields.filter(isUnknown).map((path) => `--select: no record has the field ${path.join('.')}`))
  }
}
