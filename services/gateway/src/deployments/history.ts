import type { StoredLine } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { lineId, stepId } from '@slipway/domain'
import type { Answer, Call } from '../http/handler.ts'
import { requireVisible } from './visible-deployment.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000

interface Chunk {
  first_line: number
  lines: StoredLine[]
}

interface NumberedLine extends StoredLine {
  number: number
}

interface TargetRow {
  target_index: number
  target_id: string
  target_name: string
}

/** Lines of a deployment's log by number. A number is found by index, so that any offset costs the same. */
export async function listLogs(db: Queryable, { caller, params, query }: Call<'listDeploymentLogs'>): Promise<Answer> {
  const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
  const offset = Math.max(0, Number(query.offset ?? 0))
  const limit = Math.min(Math.max(1, Number(query.limit ?? DEFAULT_LIMIT)), MAX_LIMIT)
  const lines = numbered(await readChunks(db, id, offset, limit)).filter(
    ({ number }) => number >= offset && number < offset + limit,
  )
  const targets = await targetsOf(db, id, lines)
  return { status: 200, body: lines.map((line) => entryOf(id, line, targets)) }
}

/** The chunk that holds line `offset`, and those that begin within `limit` lines of it. */
async function readChunks(db: Queryable, id: string, offset: number, limit: number): Promise<Chunk[]> {
  const { rows } = await db.query<Chunk>(
    `SELECT first_line, lines FROM log_chunks
     WHERE deployment_id = $1 AND first_line < $2::bigint + $3
       AND first_line >= coalesce(
         (SELECT max(first_line) FROM log_chunks WHERE deployment_id = $1 AND first_line <= $2::bigint), 0)
     ORDER BY first_line`,
    [id, offset, limit],
  )
  return rows
}

const numbered = (chunks: Chunk[]): NumberedLine[] =>
  chunks.flatMap(({ first_line, lines }) => lines.map((line, index) => ({ ...line, number: first_line + index })))

async function targetsOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<number, TargetRow>> {
  const indices = [...new Set(lines.map(({ i }) => i).filter((index) => index !== null))]
  if (indices.length === 0) return new Map()
  const { rows } = await db.query<TargetRow>(
    `SELECT target_index, target_id, target_name FROM deployment_targets
     WHERE deployment_id = $1 AND target_index = ANY($2::int[])`,
    [id, indices],
  )
  return new Map(rows.map((row) => [row.target_index, row]))
}

function entryOf(deploymentId: string, line: NumberedLine, targets: Map<number, TargetRow>) {
  const { number, t, i, a, s, l, m, x } = line
  const target = i === null ? undefined : targets.get(i)
  return {
    id: lineId(deploymentId, number),
    timestamp: new Date(t).toISOString().replace('Z', '+00:00'),
    level: l,
    event_type: 'log',
    step_id: i === null || a === null ? null : stepId(deploymentId, i, a),
    target_id: target?.target_id ?? null,
    target_name: target?.target_name ?? null,
    message: m,
    stdout: s === 'o' ? m : null,
    stderr: s === 'e' ? m : null,
    metadata: { ...x, seq: number },
    analysis: null,
  }
}
