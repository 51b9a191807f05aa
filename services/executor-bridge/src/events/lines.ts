import type { LogEvent, StoredLine } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { invalid } from '../callers/refusal.ts'
import { storableJson } from '../storable.ts'
import { addChunk } from './events.sql.ts'

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

/** Stores the lines of one batch as one row. */
export async function storeChunk(
  tx: Queryable,
  deploymentId: string,
  firstLine: number,
  lines: readonly StoredLine[],
): Promise<void> {
  if (lines.length === 0) return
  await addChunk.run(tx, {
    deployment_id: deploymentId,
    first_line: firstLine,
    line_count: lines.length,
    lines: storableJson(lines),
  })
}
