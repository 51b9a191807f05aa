import {
  array,
  bool,
  columnNames,
  deploymentState,
  insertion,
  int4,
  jsonb,
  nullable,
  rowSet,
  sourceKind,
  statement,
  text,
  uuid,
} from '@slipway/database'
import type { PlanHead, VariableValues } from '@slipway/domain'
import { countedRows, storeCounts } from './counts.sql.ts'

/** Written as they are given. */
const DEPLOYMENT = {
  id: uuid,
  tenant_id: nullable(uuid),
  tenant_name: nullable(text),
  environment_id: nullable(uuid),
  environment_name: nullable(text),
  source_type: sourceKind,
  source_id: uuid,
  source_name: text,
  source_version: text,
  plan_head: jsonb<PlanHead>(),
  selection: jsonb<object>(),
  total_steps: int4,
  triggered_by: text,
  triggered_by_id: uuid,
  api_key_name: nullable(text),
  request_id: nullable(text),
  source_deployment_id: nullable(uuid),
  freeze_override: nullable(text),
  traceparent: nullable(text),
  warnings: jsonb<string[]>(),
  variant: nullable(text),
}

/**
 * Adds started deployments, their counts, and the names by which lists search. Times and settings come from the database. A known
 * name is not inserted again: the transaction would wait for another one with the same name.
 */
export const insertDeployments = statement({
  name: 'dispatcher.deployments.insert',
  parameters: { deployments: rowSet({ ...DEPLOYMENT, timeout_seconds: int4 }) },
  sql: `WITH added AS (INSERT INTO deployments (
      state, created_at, started_at, deadline_at, analysis_enabled, ${columnNames(DEPLOYMENT)})
    SELECT 'running', now(), now(), CASE WHEN timeout_seconds > 0 THEN now() + make_interval(secs => timeout_seconds) END,
      (SELECT analysis_enabled FROM queue_settings), ${columnNames(DEPLOYMENT)}
    FROM :deployments AS d
    RETURNING tenant_id, environment_id, source_type, source_name, state, is_check
    ), counted AS (${storeCounts(countedRows('added', '1'))})
    INSERT INTO deployment_names (tenant_id, source_name)
    SELECT DISTINCT tenant_id, source_name FROM added a
     WHERE NOT EXISTS (SELECT FROM deployment_names n
                        WHERE n.source_name = a.source_name AND n.tenant_id IS NOT DISTINCT FROM a.tenant_id)
     ORDER BY 2, 1
    ON CONFLICT DO NOTHING`,
})

export const insertActions = insertion({
  name: 'dispatcher.deployment-actions.insert',
  into: 'deployment_actions',
  columns: {
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
  },
})

export const insertTargets = insertion({
  name: 'dispatcher.deployment-targets.insert',
  into: 'deployment_targets',
  columns: {
    deployment_id: uuid,
    target_index: int4,
    target_id: uuid,
    target_name: text,
    variables: jsonb<VariableValues>(),
    values_hash: nullable(text),
  },
})

/** Steps are targets times actions. The database multiplies them, so they never cross the wire. */
export const insertSteps = statement({
  name: 'dispatcher.steps.insert',
  parameters: { deployments: rowSet({ deployment_id: uuid, target_count: int4, action_count: int4 }) },
  sql: `INSERT INTO steps (deployment_id, target_index, action_index)
    SELECT deployment_id, target_index, action_index
      FROM :deployments AS d,
           generate_series(0, target_count - 1) AS target_index,
           generate_series(0, action_count - 1) AS action_index`,
})

export const insertTransitions = insertion({
  name: 'dispatcher.deployment-transitions.insert',
  into: 'deployment_transitions',
  columns: {
    deployment_id: uuid,
    number: int4,
    from_state: nullable(deploymentState),
    to_state: deploymentState,
    message: text,
  },
})

/** Notes that these deployments hold locks of targets. */
export const markLocking = statement({
  name: 'dispatcher.deployments.mark-locking',
  parameters: { ids: array(uuid) },
  sql: 'UPDATE deployments SET locks_targets = true WHERE id = ANY (:ids)',
})

/** Notes who approved these deployments. */
export const noteApprovals = statement({
  name: 'dispatcher.deployments.note-approvals',
  parameters: { ids: array(uuid), approved_by: array(jsonb<object[]>()) },
  sql: `UPDATE deployments d SET approved_by = a.approved_by
      FROM unnest(:ids::uuid[], :approved_by::jsonb[]) AS a (id, approved_by) WHERE d.id = a.id`,
})
