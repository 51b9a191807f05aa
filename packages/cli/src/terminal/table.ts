import { stripVTControlCharacters } from 'node:util'

/** Leaves out the codes of colours, which have no width on a terminal. */
const getWidth = (cell: string) => stripVTControlCharacters(cell).length
const padCell = (cell: string, width: number) => cell + ' '.repeat(Math.max(0, width - getWidth(cell)))

/** Returns how many columns of a terminal these lines need. */
export const getTableWidth = (lines: readonly string[]) => Math.max(0, ...lines.map(getWidth))

/** Returns a head and rows as lines with aligned columns. The last column has no padding. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, getWidth(row[column] ?? '')), title.length),
  )
  const last = head.length - 1
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => (column === last ? cell : padCell(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** Returns `name: value` lines with aligned values. Leaves out empty values. */
export function formatFacts(pairs: readonly (readonly [string, string | number | null | undefined])[]): string[] {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${`${name}:`.padEnd(width + 1)} ${value}`)
}

/** For example `1 target` and `3 targets`. */
export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Does not use the API's `progress`, because that counts skipped, cancelled and rolled-back steps as done. */
export const formatSteps = ({ completed_steps, total_steps }: { completed_steps: number; total_steps: number }) =>
  `${completed_steps} of ${total_steps} steps are complete`

/** Returns a time of this machine's zone, such as `2026-11-21 19:05 +01:00`. A time of the API without a zone is in UTC. */
export function formatTime(
  timestamp: string | null | undefined,
  { digits = 16 }: { digits?: 16 | 19 | 23 } = {},
): string {
  if (!timestamp) return '-'
  const time = new Date(toIsoTime(timestamp))
  if (Number.isNaN(time.getTime())) return timestamp
  const offset = -time.getTimezoneOffset()
  const local = new Date(time.getTime() + offset * 60_000).toISOString().replace('T', ' ')
  return `${local.slice(0, digits)} ${formatOffset(offset)}`
}

/** A time in a table. The table shows seconds if several of its rows have the same minute. */
export class TableTime {
  readonly at: string

  constructor(at: string) {
    this.at = at
  }
}

export const showTime = (at: string | null | undefined): TableTime | null => (at ? new TableTime(at) : null)

/** Returns the cells of one column as text. */
export function formatCells(cells: readonly (string | number | TableTime | null | undefined)[]): string[] {
  const minutes = cells.flatMap((cell) => (cell instanceof TableTime ? [formatTime(cell.at)] : []))
  const digits = new Set(minutes).size < minutes.length ? 19 : 16
  return cells.map((cell) => (cell instanceof TableTime ? formatTime(cell.at, { digits }) : String(cell ?? '-')))
}

/** Replaces the times in a text of the server by times of this machine's zone. */
export const localizeTimes = (text: string): string => text.replaceAll(ISO_TIME, (time) => formatTime(time))

const ISO_TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g

/** The API gives the times of pending requests as `2026-11-21 19:05:00`. */
export const toIsoTime = (timestamp: string) => timestamp.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/, '$1T$2Z')

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

export function formatDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '-'
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
