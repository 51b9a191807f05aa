import {
  array,
  bool,
  deploymentState,
  int4,
  int8,
  nullable,
  STILL_HELD,
  statement,
  text,
  uuid,
} from '@slipway/database'
import { countedRows, storeCounts } from './counts.sql.ts'

export const lockDeploymentRow = statement({
  name: 'dispatcher.deployments.lock',
  parameters: { id: uuid },
  row: {
    id: uuid,
    tenant_id: nullable(uuid),
    state: deploymentState,
    request_id: nullable(text),
    traceparent: nullable(text),
    is_check: bool,
  },
  sql: 'SELECT id, tenant_id, state, request_id, traceparent, is_check FROM deployments WHERE id = :id FOR UPDATE',
})

const LEFT_STATE =
  '(SELECT tenant_id, environment_id, source_type, from_state AS state, is_check FROM moved) left_state'

/** Changes the state of a deployment that is in one of the states `from`, and adds the change to its history. */
export const moveDeployment = statement({
  name: 'dispatcher.deployments.move',
  parameters: {
    id: uuid,
    from: array(deploymentState),
    to: deploymentState,
    is_final: bool,
    message: text,
    error_message: nullable(text),
    cancel_reason: nullable(text),
    cancelled_by: nullable(text),
  },
  sql: `WITH old AS (SELECT id, state FROM deployments WHERE id = :id AND state = ANY(:from) FOR UPDATE),
         moved AS (
           UPDATE deployments d
              SET state = :to::deployment_state,
                  completed_at = CASE WHEN :is_final THEN clock_timestamp() END,
                  error_message = :error_message,
                  cancel_reason = :cancel_reason,
                  cancelled_by = :cancelled_by
             FROM old WHERE d.id = old.id
           RETURNING d.id, old.state AS from_state, d.state, d.tenant_id, d.environment_id, d.source_type, d.is_check
         ), counted AS (${storeCounts(`${countedRows('moved', '1')} UNION ALL ${countedRows(LEFT_STATE, '-1')}`)})
    INSERT INTO deployment_transitions (deployment_id, number, from_state, to_state, message)
    SELECT moved.id, (SELECT count(*) FROM deployment_transitions t WHERE t.deployment_id = moved.id),
           moved.from_state, :to::deployment_state, :message
      FROM moved`,
})

export const findHeldLease = statement({
  name: 'dispatcher.deployments.find-held-lease',
  parameters: { deployment_id: uuid, epoch: int8 },
  row: { epoch: int8 },
  sql: `SELECT epoch FROM leases l WHERE deployment_id = :deployment_id AND epoch = :epoch AND ${STILL_HELD}`,
})

/** Reads steps only if `ask_steps`: a large deployment has many, and after a success `run_progress` has the answer. */
export const hasBegunRollback = statement({
  name: 'dispatcher.deployments.has-begun-rollback',
  parameters: { deployment_id: uuid, ask_steps: bool },
  row: { rolled_back: nullable(bool) },
  sql: `SELECT coalesce((SELECT rolling_back FROM run_progress WHERE deployment_id = :deployment_id), false)
        OR CASE WHEN :ask_steps THEN EXISTS (
             SELECT FROM steps WHERE deployment_id = :deployment_id
                AND state IN ('rolling_back', 'rolled_back', 'rollback_failed')) END AS rolled_back`,
})

/** Records once that a run has stopped. No row if that is recorded, or if another instance has run the deployment since. */
export const noteStopped = statement({
  name: 'dispatcher.deployments.note-stopped',
  parameters: { deployment_id: uuid, epoch: int8 },
  row: { epoch: int8 },
  sql: `UPDATE leases l SET stopped_at = clock_timestamp()
     WHERE deployment_id = :deployment_id AND epoch = :epoch AND ended_at IS NOT NULL AND stopped_at IS NULL
       AND NOT EXISTS (SELECT FROM leases later WHERE later.deployment_id = :deployment_id AND later.epoch > :epoch)
    RETURNING epoch`,
})

const ERROR_CHARACTERS = 600

/**
 * How many commands failed (`failures`) and on how many targets, how many of them in the most frequent way (`alike`), with
 * which error, and where first. No row if none failed.
 */
export const findCommonestFailure = statement({
  name: 'dispatcher.deployments.find-commonest-failure',
  parameters: { deployment_id: uuid },
  row: { failures: int4, targets: int4, alike: int4, error: nullable(text), place: text },
  sql: `WITH failed AS (
      SELECT s.target_index, s.action_index, s.completed_at, s.error_message, r.analysis,
             coalesce(r.analysis ->> 'fingerprint', s.error_message, '') AS kind
        FROM steps s
        LEFT JOIN command_results r ON r.deployment_id = s.deployment_id AND r.target_index = s.target_index
                                   AND r.action_index = s.action_index AND r.status = 'failed'
       WHERE s.deployment_id = :deployment_id AND s.ever_failed
    ), totals AS (
      SELECT count(*)::int AS failures, count(DISTINCT target_index)::int AS targets FROM failed
    ), first AS (
      SELECT DISTINCT ON (kind) *, count(*) OVER (PARTITION BY kind)::int AS alike
        FROM failed ORDER BY kind, completed_at, target_index, action_index
    )
    SELECT totals.failures, totals.targets, first.alike,
           left(CASE WHEN totals.targets > 1 THEN coalesce(first.analysis ->> 'summary', first.error_message)
                     ELSE first.error_message END, ${ERROR_CHARACTERS}) AS error,
           a.action_name || ' on ' || t.target_name AS place
      FROM first
      CROSS JOIN totals
      JOIN deployment_actions a ON a.deployment_id = :deployment_id AND a.action_index = first.action_index
      JOIN deployment_targets t ON t.deployment_id = :deployment_id AND t.target_index = first.target_index
     ORDER BY CASE WHEN totals.targets > 1 THEN first.alike END DESC NULLS LAST,
              first.completed_at, first.target_index, first.action_index
     LIMIT 1`,
})
