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
