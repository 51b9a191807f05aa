import type { LogEvent, StoredLine } from '@slipway/contracts'
import { int4, int8, type Queryable, statement, text, uuid, writeSteps } from '@slipway/database'
import { invalid } from '../callers/refusal.ts'
import type { DroppedLines } from '../log-volume/keep.ts'
import { storableJson } from '../storable.ts'

/** `lines` is JSON text. */
const addChunk = statement({
  name: 'executor-bridge.events.add-chunk',
  parameters: { deployment_id: uuid, first_line: int8, line_count: int4, lines: text },
  sql: `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
    VALUES (:deployment_id, :first_line, :line_count, :lines::text::jsonb)`,
})

const STREAMS = { stdout: 'o', stderr: 'e', system: 's' } as const

/** The lines that continue the log at `nextLine`. Repeated lines are dropped. A gap is refused, because it could never be filled. */
export function newLines(events: readonly LogEvent[], nextLine: number): StoredLine[] {
  const lines: StoredLine[] = []
  for (const event of events) {
    const expected = nextLine + lines.length
    if (event.line < expected) continue
    if (event.line > expected) throw invalid(`Log line ${event.line} came where line ${expected} was expected`)
    lines.push(toStored(event))
  }
  return lines
}

function toStored({ at, target, action, stream, level, text, metadata }: LogEvent): StoredLine {
  const line = { t: Date.parse(at), i: target, a: action, s: STREAMS[stream], l: level, m: text }
  return metadata === undefined ? line : { ...line, x: metadata }
}

/** The lines of one batch as one row. `bytes` counts towards the limits of the log volume. */
export interface Chunk {
  count: number
  json: string
  bytes: number
}

export function chunkOf(lines: readonly StoredLine[]): Chunk {
  if (lines.length === 0) return { count: 0, json: '[]', bytes: 0 }
  const json = storableJson(lines)
  return { count: lines.length, json, bytes: Buffer.byteLength(json) }
}

export async function storeChunk(
  tx: Queryable,
  deploymentId: string,
  firstLine: number,
  { count, json }: Chunk,
): Promise<void> {
  if (count === 0) return
  await addChunk.run(tx, { deployment_id: deploymentId, first_line: firstLine, line_count: count, lines: json })
}

/** Adds the number of dropped output lines to the steps that wrote them. */
export async function countDropped(
  tx: Queryable,
  deploymentId: string,
  dropped: readonly DroppedLines[],
): Promise<void> {
  if (dropped.length === 0) return
  await writeSteps(tx, { kind: 'lines dropped', deploymentId, dropped })
}
