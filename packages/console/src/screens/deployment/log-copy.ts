import { ansiParts } from './ansi-parts.ts'
import { cellOf, type LogColumn, type LogContext } from './log-columns.ts'
import { type LogLine, readLines } from './log-reads.ts'

/** A copy has no more lines. */
export const MAX_COPIED = 10_000
const PAGE = 1_000

/** Lines as text: the columns that are shown, separated by tabs. */
export const textOf = (lines: readonly LogLine[], columns: readonly LogColumn[], context: LogContext): string =>
  lines
    .map((line) => {
      const text = ansiParts(line.text).map((part) => part.text)
      return [line.target ?? '', ...columns.map((column) => cellOf(column, line, context)), text.join('')].join('\t')
    })
    .join('\n')

/** The whole log if it is short enough, else the lines around this one. */
export async function linesAround(id: string, middle: number, count: number): Promise<LogLine[]> {
  const first = Math.max(0, Math.min(middle - MAX_COPIED / 2, count - MAX_COPIED))
  const lines: LogLine[] = []
  const end = Math.min(count, first + MAX_COPIED)
  for (let from = first; from < end; from += PAGE) {
    const limit = Math.min(PAGE, end - from)
    lines.push(...(await readLines(id, { from, limit, signal: new AbortController().signal })))
  }
  return lines
}
