import type { RunConnection } from '@slipway/contracts'
import {
  array,
  bool,
  deploymentState,
  float8,
  int4,
  int8,
  json,
  jsonb,
  nullable,
  type RowOf,
  rowSet,
  STILL_HELD,
  statement,
  stepState,
  text,
  uuid,
} from '@slipway/database'
import type { PlanHead, PublishedAction, VariableValues } from '@slipway/domain'

export type StoredConnection =
  | Exclude<RunConnection, { type: 'ssh' | 'agent' }>
  | { type: 'agent' }
  | { type: 'ssh'; host: string; port?: number; username: string; host_key?: string }

interface EnrolledAgent {
  id: string
  host: string
  port: number
  key_sealed: string
}

/** One locked run must not hold up the others that start with it. */
export const waitBriefly = statement({
  name: 'executor-bridge.records.wait-briefly',
  sql: "SET LOCAL lock_timeout = '500ms'",
})

/**
 * Locks the runs with live leases of the instance, in the order of ids. `open`: there is progress under this epoch. `started`:
 * there are events of this epoch.
 */
export const lockLeasedRuns = statement({
  name: 'executor-bridge.records.lock-leased-runs',
  parameters: { runs: rowSet({ deployment_id: uuid, epoch: int8 }), instance_id: uuid },
  row: {
    deployment_id: uuid,
    epoch: int8,
    state: deploymentState,
    request_id: nullable(text),
    traceparent: nullable(text),
    plan_head: jsonb<PlanHead>(),
    remaining_seconds: nullable(float8),
    instance_id: uuid,
    open: bool,
    started: bool,
    finished: bool,
    next_line: int8,
    is_check: bool,
  },
  sql: `SELECT l.deployment_id, l.epoch, d.state, d.request_id, d.traceparent, d.plan_head, d.is_check, l.instance_id,
           CASE WHEN d.deadline_at IS NOT NULL
                THEN greatest(0, extract(epoch FROM d.deadline_at - now()))::float8 END AS remaining_seconds,
           coalesce(p.epoch = l.epoch, false) AS open,
           coalesce(p.epoch = l.epoch AND p.next_event > 0, false) AS started,
           coalesce(p.epoch = l.epoch AND p.finished_at IS NOT NULL, false) AS finished,
           coalesce(p.next_line, 0) AS next_line
      FROM :runs AS run
      JOIN deployments d ON d.id = run.deployment_id
      JOIN leases l ON l.epoch = run.epoch AND l.deployment_id = run.deployment_id
      LEFT JOIN run_progress p ON p.deployment_id = d.id
     WHERE ${STILL_HELD} AND l.instance_id = :instance_id
     ORDER BY d.id
       FOR SHARE OF d, l`,
})

export type LeasedRun = RowOf<typeof lockLeasedRuns>

/** `definition` is null if the version is gone. */
export const findActions = statement({
  name: 'executor-bridge.records.find-actions',
  parameters: { deployment_ids: array(uuid) },
  row: {
    deployment_id: uuid,
    action_index: int4,
    sequence_id: uuid,
    sequence_name: text,
    sequence_version: text,
    sequence_order: int4,
    action_id: uuid,
    action_name: text,
    action_version: text,
    action_order: int4,
    timeout_seconds: int4,
    max_retries: int4,
    has_rollback: bool,
    variables: jsonb<VariableValues>(),
    definition: nullable(jsonb<PublishedAction>()),
  },
  sql: `SELECT a.deployment_id, a.action_index, a.sequence_id, a.sequence_name, a.sequence_version, a.sequence_order,
           a.action_id, a.action_name, a.action_version, a.action_order, a.timeout_seconds, a.max_retries,
           a.has_rollback, a.variables,
           v.definition || jsonb_build_object('places', v.templates) AS definition
      FROM deployment_actions a
      LEFT JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version
     WHERE a.deployment_id = ANY (:deployment_ids) ORDER BY a.deployment_id, a.action_index`,
})

/** `connection` is null if the target is gone, `environment` is the name of its own one, `agent` if none is enrolled. */
export const findTargets = statement({
  name: 'executor-bridge.records.find-targets',
  parameters: { deployment_ids: array(uuid) },
  row: {
    deployment_id: uuid,
    target_index: int4,
    target_id: uuid,
    target_name: text,
    variables: jsonb<VariableValues>(),
    connection: nullable(jsonb<StoredConnection>()),
    environment: nullable(text),
    connection_secrets: nullable(text),
    pinned_host_key: nullable(text),
    agent: nullable(json<EnrolledAgent>()),
  },
  sql: `SELECT dt.deployment_id, dt.target_index, dt.target_id, dt.target_name, dt.variables,
           t.connection, e.name AS environment, t.connection_secrets, f.host_key AS pinned_host_key,
           CASE WHEN a.id IS NOT NULL THEN json_build_object(
             'id', a.id, 'host', a.host, 'port', a.port, 'key_sealed', a.key_sealed) END AS agent
      FROM deployment_targets dt
      LEFT JOIN targets t ON t.id = dt.target_id
      LEFT JOIN environments e ON e.id = t.environment_id
      LEFT JOIN target_facts f ON f.target_id = dt.target_id
      LEFT JOIN agents a ON a.target_id = dt.target_id AND t.connection ->> 'type' = 'agent'
     WHERE dt.deployment_id = ANY (:deployment_ids) ORDER BY dt.deployment_id, dt.target_index`,
})

/** How a target is reached. */
export type TargetAccess = Pick<
  RowOf<typeof findTargets>,
  'connection' | 'environment' | 'connection_secrets' | 'pinned_host_key' | 'agent'
>

/** The steps that are no longer pending, or were attempted. */
export const findTouchedSteps = statement({
  name: 'executor-bridge.records.find-touched-steps',
  parameters: { deployment_ids: array(uuid) },
  row: { deployment_id: uuid, target: int4, action: int4, state: stepState, retry_count: int4, ever_failed: bool },
  sql: `SELECT deployment_id, target_index AS target, action_index AS action, state, retry_count, ever_failed
      FROM steps WHERE deployment_id = ANY (:deployment_ids) AND (state <> 'pending' OR retry_count > 0)
     ORDER BY deployment_id, target_index, action_index`,
})

export type StepRecord = RowOf<typeof findTouchedSteps>
