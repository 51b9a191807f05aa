import type { Client } from 'pg'

export interface DeploymentRow {
  id: string
  state: string
  request_id: string | null
  error_message: string | null
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  pending_id: string | null
  options: Record<string, unknown> | null
  source_deployment_id: string | null
  /** The counts of the run; null if no run exists. */
  completed_steps: number | null
}

export interface StepRow {
  deployment_id: string
  target_index: number
  action_index: number
  target: string
  step: string
  max_retries: number
  state: string
  retry_count: number
  exit_code: number | null
  error_message: string | null
  failure_reason: string | null
  started_at: Date | null
  attempt_started_at: Date | null
  completed_at: Date | null
  result: string | null
  result_exit_code: number | null
}

export interface PendingRow {
  id: string
  status: string
  request_id: string | null
  deployment_id: string | null
  error_message: string | null
}

export interface LeaseRow {
  epoch: string
  instance_id: string
  slot: number
  deployment_id: string
  acquired_at: Date
  ended_at: Date | null
  end_reason: string | null
}

export interface TransitionRow {
  deployment_id: string
  number: number
  from_state: string | null
  to_state: string
  at: Date
}

export interface LineRow {
  deployment_id: string
  seq: number
  target_index: number
  action_index: number
  stream: string
  text: string
}

export interface KeyRow {
  key: string
  request_id: string | null
}

/** The content of the database after a round. */
export interface Tables {
  deployments: DeploymentRow[]
  transitions: TransitionRow[]
  steps: StepRow[]
  pending: PendingRow[]
  leases: LeaseRow[]
  /** In the order of the chunks, which may differ from the order of the numbers. */
  lines: LineRow[]
  /** Chunks whose count differs from their lines. */
  wrongChunks: { deployment_id: string; first_line: string }[]
  keys: KeyRow[]
  outbox: number
  webhookEvents: number
}

const OF_ROUND = 'SELECT id FROM deployments WHERE created_at >= $1 AND NOT is_check'

export async function readTables(database: Client, since: Date): Promise<Tables> {
  const rows = async <T>(sql: string): Promise<T[]> => (await database.query(sql, [since])).rows as T[]
  const number = async (sql: string) => Number((await database.query(sql)).rows[0]?.n ?? 0)
  const chunks = await rows<{
    deployment_id: string
    first_line: string
    line_count: number
    lines: { i: number | null; a: number | null; s: string; m: string }[]
  }>(
    `SELECT deployment_id, first_line, line_count, lines FROM log_chunks WHERE deployment_id IN (${OF_ROUND})
      ORDER BY deployment_id, first_line`,
  )
  return {
    deployments: await rows(
      `SELECT d.id, d.state::text, d.request_id, d.error_message, d.created_at, d.started_at, d.completed_at,
              p.id AS pending_id, d.plan_head -> 'options' AS options, d.source_deployment_id, r.completed_steps
         FROM deployments d LEFT JOIN pending_requests p ON p.deployment_id = d.id
         LEFT JOIN run_progress r ON r.deployment_id = d.id
        WHERE d.created_at >= $1 AND NOT d.is_check`,
    ),
    transitions: await rows(
      `SELECT deployment_id, number, from_state::text, to_state::text, at FROM deployment_transitions
        WHERE deployment_id IN (${OF_ROUND}) ORDER BY deployment_id, number`,
    ),
    steps: await rows(
      `SELECT s.deployment_id, s.target_index, s.action_index, t.target_name AS target, a.action_name AS step,
              a.max_retries, s.state::text, s.retry_count, s.exit_code, s.error_message, s.failure_reason::text, s.started_at,
              s.attempt_started_at, s.completed_at, r.status AS result, r.exit_code AS result_exit_code
         FROM steps s JOIN deployment_targets t USING (deployment_id, target_index)
         JOIN deployment_actions a USING (deployment_id, action_index)
         LEFT JOIN command_results r USING (deployment_id, target_index, action_index)
        WHERE s.deployment_id IN (${OF_ROUND}) ORDER BY 1, 2, 3`,
    ),
    pending: await rows(
      `SELECT id, status::text, request_id, deployment_id, error_message FROM pending_requests WHERE created_at >= $1`,
    ),
    leases: await rows(
      `SELECT epoch, instance_id, slot, deployment_id, acquired_at, ended_at, end_reason FROM leases
        WHERE acquired_at >= $1 ORDER BY epoch`,
    ),
    lines: chunks.flatMap(({ deployment_id, first_line, lines }) =>
      lines.map((line, index) => ({
        deployment_id,
        seq: Number(first_line) + index,
        target_index: line.i ?? -1,
        action_index: line.a ?? -1,
        stream: line.s,
        text: line.m,
      })),
    ),
    wrongChunks: chunks.filter(({ line_count, lines }) => line_count !== lines.length),
    keys: await rows(`SELECT key, request_id FROM idempotency_keys WHERE claimed_at >= $1`),
    outbox: await number('SELECT count(*) AS n FROM outbox'),
    webhookEvents: await number('SELECT count(*) AS n FROM webhook_events'),
  }
}
