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

/**
 * Lines of a deployment's log, as they were written. A line is found by its number, by index, so that any offset costs the
 * same. Where retention has dropped the beginning, the first line that is kept is at offset 0; numbers stay what they were.
 */
export async function listLogs(db: Queryable, { caller, params, query }: Call<'listDeploymentLogs'>): Promise<Answer> {
  const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
  const offset = Math.max(0, Number(query.offset ?? 0))
  const limit = Math.min(Math.max(1, Number(query.limit ?? DEFAULT_LIMIT)), MAX_LIMIT)
  const lines = numbered(await readChunks(db, id, offset, limit))
  const [targets, analyses] = await Promise.all([targetsOf(db, id, lines), analysesOf(db, id, lines)])
  return { status: 200, body: lines.map((line) => entryOf(id, line, targets, analyses)) }
}

/** Between these its lines were stored: bounds let Postgres look at the partitions of those days alone. */
async function spanOf(db: Queryable, id: string): Promise<[Date | null, Date | null]> {
  const { rows } = await db.query<{ begin: Date; end: Date | null }>(
    // A day more on both sides, should the clock have been set, or the last lines have come with the end.
    `SELECT created_at - interval '1 day' AS begin, completed_at + interval '1 day' AS "end" FROM deployments WHERE id = $1`,
    [id],
  )
  return [rows[0]?.begin ?? null, rows[0]?.end ?? null]
}

/** Those lines of the chunk that holds the first one wanted, and of the chunks after it, that are wanted. */
async function readChunks(db: Queryable, id: string, offset: number, limit: number): Promise<Chunk[]> {
  const within = `deployment_id = $1 AND created_at >= $4::timestamptz AND created_at < coalesce($5::timestamptz, 'infinity')`
  const { rows } = await db.query<Chunk>(
    `WITH wanted AS MATERIALIZED (
       SELECT first_line + $2::bigint AS line FROM log_chunks WHERE ${within} ORDER BY first_line LIMIT 1)
     SELECT greatest(first_line, (SELECT line FROM wanted)) AS first_line,
            jsonb_path_query_array(lines, '$[$from to $to]', jsonb_build_object(
              'from', least(greatest((SELECT line FROM wanted) - first_line, 0), line_count),
              'to', least((SELECT line FROM wanted) + $3 - 1 - first_line, line_count))) AS lines
       FROM log_chunks
      WHERE ${within} AND first_line < (SELECT line FROM wanted) + $3
        AND first_line >= (SELECT first_line FROM log_chunks WHERE ${within} AND first_line <= (SELECT line FROM wanted)
                            ORDER BY first_line DESC LIMIT 1)
      ORDER BY first_line`,
    [id, offset, limit, ...(await spanOf(db, id))],
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

/** Why steps failed whose failure a line reports, as it is known by now: the line has what was known when it was written. */
async function analysesOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<string, object>> {
  const reports = lines.filter(({ x, i, a }) => x?.['analysis'] !== undefined && i !== null && a !== null)
  if (reports.length === 0) return new Map()
  const { rows } = await db.query<{ place: string; analysis: object }>(
    `SELECT r.target_index || '/' || r.action_index AS place, r.analysis
       FROM command_results r
       JOIN unnest($2::int[], $3::int[]) AS p (target_index, action_index) USING (target_index, action_index)
      WHERE r.deployment_id = $1 AND r.analysis IS NOT NULL`,
    [id, reports.map(({ i }) => i), reports.map(({ a }) => a)],
  )
  return new Map(rows.map(({ place, analysis }) => [place, analysis]))
}

function entryOf(
  deploymentId: string,
  line: NumberedLine,
  targets: Map<number, TargetRow>,
  analyses: Map<string, object>,
) {
  const { number, t, i, a, s, l, m, x: { analysis, ...metadata } = {} } = line
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
    metadata: { ...metadata, seq: number },
    analysis:
      analysis === undefined
        ? null
        : // Lines of the release before have the fingerprint in their metadata alone.
          (analyses.get(`${i}/${a}`) ?? { fingerprint: metadata['fingerprint'], ...(analysis as object) }),
  }
}
