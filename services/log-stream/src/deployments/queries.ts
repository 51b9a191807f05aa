import type { StoredLine } from '@slipway/contracts'
import type { Database, Queryable } from '@slipway/database'
import { type DeploymentState, outputTail, type StepState } from '@slipway/domain'
import { AWAITS_LAST_OUTPUT, stepError } from '@slipway/views'

/** What says whether a reader is up to date. */
export interface Head {
  id: string
  state: DeploymentState
  epoch: number
  next_event: number
  /** Whether output of commands that were killed with the deployment may still come. */
  awaits_output: boolean
}

export interface StepRow {
  target: number
  action: number
  state: StepState
  exit_code: number | null
  error_message: string | null
}

export interface Transition {
  from_state: DeploymentState | null
  to_state: DeploymentState
  message: string
}

/** A deployment at one moment. */
export interface Snapshot extends Head {
  total_steps: number
  next_line: number
  ended_steps: number
  completed_steps: number
  transitions: Transition[]
  /** Every step that has left pending. */
  steps: StepRow[]
  /** The lines that were asked for, from `linesFrom`. */
  lines: StoredLine[]
}

export interface Chunk {
  first_line: number
  lines: StoredLine[]
}

/** The deployment, if the caller may see it: callers without a tenant see all, others their own and shared ones. */
export async function findVisible(db: Queryable, id: string, tenantId: string | null): Promise<{ id: string } | null> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT id FROM deployments WHERE id = $1 AND ($2::uuid IS NULL OR tenant_id = $2)',
    [id, tenantId],
  )
  return rows[0] ?? null
}

const HEAD = `d.id, d.state::text, COALESCE(p.epoch, 0) AS epoch, COALESCE(p.next_event, 0) AS next_event,
              d.completed_at IS NOT NULL AND EXISTS (
                SELECT FROM leases l WHERE l.deployment_id = d.id AND ${AWAITS_LAST_OUTPUT}) AS awaits_output
              FROM deployments d LEFT JOIN run_progress p ON p.deployment_id = d.id`

/** How far each of these deployments is: one small query, however many are watched. */
export async function headsOf(db: Queryable, ids: string[]): Promise<Head[]> {
  const { rows } = await db.query<Head>(`SELECT ${HEAD} WHERE d.id = ANY ($1)`, [ids])
  return rows
}

export async function targetsOf(db: Queryable, id: string): Promise<{ id: string; name: string }[]> {
  const { rows } = await db.query<{ id: string; name: string }>(
    'SELECT target_id AS id, target_name AS name FROM deployment_targets WHERE deployment_id = $1 ORDER BY target_index',
    [id],
  )
  return rows
}

export async function actionCountOf(db: Queryable, id: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM deployment_actions WHERE deployment_id = $1',
    [id],
  )
  return rows[0]?.count ?? 0
}

/**
 * All of a deployment at one moment, so that its numbers hold for all of it. Lines are read from `linesFrom` when there are at
 * most `maxLines`, and not at all when it is null.
 */
export async function takeSnapshot(
  database: Database,
  id: string,
  linesFrom: number | null,
  maxLines: number,
): Promise<Snapshot> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    const { rows } = await tx.query<Omit<Snapshot, 'transitions' | 'steps' | 'lines'>>(
      `SELECT d.total_steps, COALESCE(p.next_line, 0) AS next_line, COALESCE(p.ended_steps, 0) AS ended_steps,
              COALESCE(p.completed_steps, 0) AS completed_steps, ${HEAD} WHERE d.id = $1`,
      [id],
    )
    const head = rows[0]
    if (!head) throw new Error(`deployment ${id} is gone`)
    const transitions = await tx.query<Transition>(
      `SELECT from_state::text, to_state::text, message FROM deployment_transitions WHERE deployment_id = $1 ORDER BY number`,
      [id],
    )
    const steps = await tx.query<StepRow>(
      `SELECT target_index AS target, action_index AS action, state::text, exit_code, ${stepError('s')} AS error_message
       FROM steps s WHERE deployment_id = $1 AND state <> 'pending' ORDER BY target_index, action_index`,
      [id],
    )
    const wanted = linesFrom !== null && head.next_line - linesFrom <= maxLines
    const lines = wanted ? await linesBetween(tx, id, linesFrom, head.next_line) : []
    return { ...head, transitions: transitions.rows, steps: steps.rows, lines }
  })
}

/** The ends of what the commands of these steps wrote, by target and action; of those that wrote something. */
export async function outputsOf(
  db: Queryable,
  id: string,
  steps: readonly Pick<StepRow, 'target' | 'action'>[],
): Promise<{ target: number; action: number; output: string }[]> {
  if (steps.length === 0) return []
  const { rows } = await db.query<{ target: number; action: number; stdout: string; stderr: string }>(
    `SELECT r.target_index AS target, r.action_index AS action, r.stdout_tail AS stdout, r.stderr_tail AS stderr
       FROM command_results r
       JOIN unnest($2::int[], $3::int[]) AS step (target_index, action_index) USING (target_index, action_index)
      WHERE r.deployment_id = $1`,
    [id, steps.map(({ target }) => target), steps.map(({ action }) => action)],
  )
  return rows.flatMap(({ target, action, stdout, stderr }) => {
    const output = outputTail(stdout, stderr)
    return output === null ? [] : [{ target, action, output }]
  })
}

async function linesBetween(db: Queryable, id: string, from: number, to: number): Promise<StoredLine[]> {
  const lines: StoredLine[] = []
  while (from + lines.length < to) {
    const next = from + lines.length
    const page = await chunksFrom(db, id, next, to)
    if (page[0]?.first_line !== next) throw new Error(`line ${next} of deployment ${id} is missing`)
    for (const chunk of page) lines.push(...chunk.lines)
  }
  return lines
}

const CHUNKS_PER_PAGE = 16

/** The next chunks of the log that hold lines of `from` to `to`, the first cut to begin at `from`; none when there are none. */
export async function chunksFrom(db: Queryable, id: string, from: number, to: number): Promise<Chunk[]> {
  const { rows } = await db.query<Chunk>(
    `SELECT first_line, lines FROM log_chunks
     WHERE deployment_id = $1 AND first_line < $3 AND first_line >=
       (SELECT COALESCE(max(first_line), 0) FROM log_chunks WHERE deployment_id = $1 AND first_line <= $2)
     ORDER BY first_line LIMIT ${CHUNKS_PER_PAGE}`,
    [id, from, to],
  )
  const [first, ...others] = rows
  if (!first || first.first_line >= from) return rows
  const lines = first.lines.slice(from - first.first_line)
  return lines.length === 0 ? others : [{ first_line: from, lines }, ...others]
}
