import type { RunConnection, RunRef } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { ActionDefinition, PlanHead, PlannedActionRow, PlannedTargetRow, StepState } from '@slipway/domain'
import { STILL_HELD } from '@slipway/views'

/** A run under the live lease of its epoch. */
export interface LeasedRun {
  deployment_id: string
  epoch: number
  state: string
  request_id: string | null
  traceparent: string | null
  plan_head: PlanHead
  remaining_seconds: number | null
  instance_id: string
  /** Its progress under this epoch is there. */
  open: boolean
  /** Events of this epoch have come. */
  started: boolean
  finished: boolean
  next_line: number
}

export interface ActionRecord extends PlannedActionRow {
  /** Null when the version is gone. */
  definition: ActionDefinition | null
}

/** How a target is reached. */
export interface TargetAccess {
  /** Null when the target is gone. */
  connection: StoredConnection | null
  connection_secrets: string | null
  pinned_host_key: string | null
  /** Null where none is enrolled. */
  agent: { id: string; host: string; port: number; key_sealed: string } | null
}

export type TargetRecord = PlannedTargetRow & TargetAccess

export type StoredConnection =
  | Exclude<RunConnection, { type: 'ssh' | 'agent' }>
  | { type: 'agent' }
  | { type: 'ssh'; host: string; port?: number; username: string; host_key?: string }

export interface StepRecord {
  target: number
  action: number
  state: StepState
  retry_count: number
  ever_failed: boolean
}

/** The runs whose live leases the instance holds, locked against their end in the order of ids, as everywhere. */
export async function lockLeasedRuns(
  tx: Queryable,
  instanceId: string,
  wanted: readonly RunRef[],
): Promise<LeasedRun[]> {
  const { rows } = await tx.query<LeasedRun>(
    `SELECT l.deployment_id, l.epoch, d.state::text, d.request_id, d.traceparent, d.plan_head,
            CASE WHEN d.deadline_at IS NOT NULL
              THEN GREATEST(0, EXTRACT(epoch FROM d.deadline_at - now()))::float8 END AS remaining_seconds,
            l.instance_id,
            COALESCE(p.epoch = l.epoch, false) AS open,
            COALESCE(p.epoch = l.epoch AND p.next_event > 0, false) AS started,
            COALESCE(p.epoch = l.epoch AND p.finished_at IS NOT NULL, false) AS finished,
            COALESCE(p.next_line, 0) AS next_line
     FROM unnest($1::uuid[], $2::bigint[]) AS run (deployment_id, epoch)
     JOIN deployments d ON d.id = run.deployment_id
     JOIN leases l ON l.epoch = run.epoch AND l.deployment_id = run.deployment_id
     LEFT JOIN run_progress p ON p.deployment_id = d.id
     WHERE ${STILL_HELD} AND l.instance_id = $3
     ORDER BY d.id
     FOR SHARE OF d, l`,
    [wanted.map(({ deployment_id }) => deployment_id), wanted.map(({ epoch }) => epoch), instanceId],
  )
  return rows
}

type ByDeployment<R> = Map<string, R[]>

function byDeployment<R extends { deployment_id: string }>(rows: readonly R[]): ByDeployment<R> {
  const grouped: ByDeployment<R> = new Map()
  for (const row of rows) {
    const known = grouped.get(row.deployment_id)
    if (known) known.push(row)
    else grouped.set(row.deployment_id, [row])
  }
  return grouped
}

export async function actionsOf(db: Queryable, deploymentIds: readonly string[]): Promise<ByDeployment<ActionRecord>> {
  const { rows } = await db.query<ActionRecord & { deployment_id: string }>(
    `SELECT a.*, v.definition
     FROM deployment_actions a
     LEFT JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version
     WHERE a.deployment_id = ANY($1::uuid[]) ORDER BY a.deployment_id, a.action_index`,
    [deploymentIds],
  )
  return byDeployment(rows)
}

export async function targetsOf(db: Queryable, deploymentIds: readonly string[]): Promise<ByDeployment<TargetRecord>> {
  const { rows } = await db.query<TargetRecord & { deployment_id: string }>(
    `SELECT dt.*, t.connection, t.connection_secrets, f.host_key AS pinned_host_key,
            CASE WHEN a.id IS NOT NULL THEN json_build_object(
              'id', a.id, 'host', a.host, 'port', a.port, 'key_sealed', a.key_sealed) END AS agent
     FROM deployment_targets dt
     LEFT JOIN targets t ON t.id = dt.target_id
     LEFT JOIN target_facts f ON f.target_id = dt.target_id
     LEFT JOIN agents a ON a.target_id = dt.target_id AND t.connection ->> 'type' = 'agent'
     WHERE dt.deployment_id = ANY($1::uuid[]) ORDER BY dt.deployment_id, dt.target_index`,
    [deploymentIds],
  )
  return byDeployment(rows)
}

/** The steps that something has happened to. */
export async function touchedSteps(db: Queryable, deploymentIds: readonly string[]): Promise<ByDeployment<StepRecord>> {
  const { rows } = await db.query<StepRecord & { deployment_id: string }>(
    `SELECT deployment_id, target_index AS target, action_index AS action, state::text AS state, retry_count, ever_failed
     FROM steps WHERE deployment_id = ANY($1::uuid[]) AND (state <> 'pending' OR retry_count > 0)
     ORDER BY deployment_id, target_index, action_index`,
    [deploymentIds],
  )
  return byDeployment(rows)
}
