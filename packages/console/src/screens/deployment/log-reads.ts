import type { LogFilter, Schema } from '@slipway/client'
import { client } from '../../api/client.ts'

/** A line as the viewer shows it, from the history or from the live stream. */
export interface LogLine {
  number: number
  at: string
  level: string
  target: string | null
  /** The step that wrote it. */
  step: string | null
  text: string
  /** Whether it tells that its command failed, and why. */
  isFailure: boolean
}

/** How many lines are stored now. */
export async function countLines(id: string, signal: AbortSignal): Promise<number> {
  return (await client.readLog(id, { limit: 1, signal })).lines
}

interface Part {
  from: number
  limit: number
  signal: AbortSignal
}

/** Lines of the log, from number `from` on. Retention may have dropped the first ones; they stand in their places. */
export async function readLines(id: string, part: Part): Promise<LogLine[]> {
  const { entries, first } = await client.readLog(id, { ...part })
  const dropped = Math.max(0, Math.min(first - part.from, part.limit))
  return [...Array.from({ length: dropped }, (_, place) => droppedLine(part.from + place)), ...entries.map(lineOf)]
}

const droppedLine = (number: number): LogLine => ({
  number,
  at: '',
  level: 'info',
  target: null,
  step: null,
  text: '(no longer stored)',
  isFailure: false,
})

/** The next lines that match, and where the search goes on. In a long log there may be none before its end. */
export async function findLines(
  id: string,
  filter: LogFilter,
  part: Part,
): Promise<{ lines: LogLine[]; next: number }> {
  const { entries, next } = await client.readLog(id, { ...filter, ...part })
  return { lines: entries.map(lineOf), next }
}

/** Beyond every line. */
const END = 999_999_999_999
/** Each looks at the log for about a second. */
const MAX_LOOKS = 10

/** The last lines that match. In a very long log, lines far from its end are not looked at. */
export async function lastLinesOf(
  id: string,
  filter: LogFilter,
  limit: number,
  signal: AbortSignal,
): Promise<LogLine[]> {
  const lines: LogLine[] = []
  let before = END
  for (let look = 0; look < MAX_LOOKS && lines.length < limit; look += 1) {
    const { entries, first, next } = await client.readLog(id, {
      ...filter,
      before,
      limit: limit - lines.length,
      signal,
    })
    lines.unshift(...entries.map(lineOf))
    before = next
    if (next <= first) break
  }
  return lines
}

const lineOf = ({
  timestamp,
  level,
  step_id,
  target_name,
  message,
  metadata,
  analysis,
}: Schema<'LogEntry'>): LogLine => ({
  number: Number(metadata?.['seq']),
  at: timestamp,
  level,
  target: target_name,
  step: step_id,
  text: message,
  isFailure: analysis !== null,
})
