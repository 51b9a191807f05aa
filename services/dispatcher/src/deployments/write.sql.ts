import {
  array,
  bool,
  deploymentState,
  int4,
  jsonb,
  nullable,
  sourceKind,
  statement,
  text,
  uuid,
} from '@slipway/database'
import type { PlanHead, VariableValues } from '@slipway/domain'
import { countedRows, storeCounts } from './counts.sql.ts'

/**
 * Adds started deployments, their counts, and the names by which lists search. Times and settings come from the database. A known
 * name is not inserted again: the transaction would wait for another one with the same name.
 */
export const insertDeployments = statement({
  name: 'dispatcher.deployments.insert',
  parameters: {
    id: array(uuid),
    tenant_id: array(nullable(uuid)),
    tenant_name: array(nullable(text)),
    environment_id: array(nullable(uuid)),
    environment_name: array(nullable(text)),
    source_type: array(sourceKind),
    source_id: array(uuid),
    source_name: array(text),
    source_version: array(text),
    plan_head: array(jsonb<PlanHead>()),
    selection: array(jsonb<object>()),
    total_steps: array(int4),
    triggered_by: array(text),
    triggered_by_id: array(uuid),
    request_id: array(nullable(text)),
    source_deployment_id: array(nullable(uuid)),
    freeze_override: array(nullable(text)),
    timeout_seconds: array(int4),
    traceparent: array(nullable(text)),
    warnings: array(jsonb<string[]>()),
    variant: array(nullable(text)),
  },
  sql: `WITH added AS (INSERT INTO deployments (
      state, created_at, started_at, deadline_at, analysis_enabled,
      id, tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name, source_version,
      plan_head, selection, total_steps, triggered_by, triggered_by_id, request_id, source_deployment_id, freeze_override,
      traceparent, warnings, variant)
    SELECT 'running', now(), now(), CASE WHEN timeout_seconds > 0 THEN now() + make_interval(secs => timeout_seconds) END,
      (SELECT analysis_enabled FROM queue_settings),
      id, tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name, source_version,
      plan_head, selection, total_steps, triggered_by, triggered_by_id, request_id, source_deployment_id, freeze_override,
      traceparent, warnings, variant
    FROM unnest(
      :id::uuid[], :tenant_id::uuid[], :tenant_name::text[], :environment_id::uuid[], :environment_name::text[],
      :source_type::source_kind[], :source_id::uuid[], :source_name::text[], :source_version::text[],
      :plan_head::jsonb[], :selection::jsonb[], :total_steps::int[], :triggered_by::text[], :triggered_by_id::uuid[],
      :request_id::text[], :source_deployment_id::uuid[], :freeze_override::text[], :timeout_seconds::int[],
      :traceparent::text[], :warnings::jsonb[], :variant::text[]
    ) AS d (
      id, tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name, source_version,
      plan_head, selection, total_steps, triggered_by, triggered_by_id, request_id, source_deployment_id, freeze_override,
      timeout_seconds, traceparent, warnings, variant)
    RETURNING tenant_id, environment_id, source_type, source_name, state, is_check
    ), counted AS (${storeCounts(countedRows('added', '1'))})
    INSERT INTO deployment_names (tenant_id, source_name)
    SELECT DISTINCT tenant_id, source_name FROM added a
     WHERE NOT EXISTS (SELECT FROM deployment_names n
                        WHERE n.source_name = a.source_name AND n.tenant_id IS NOT DISTINCT FROM a.tenant_id)
     ORDER BY 2, 1
    ON CONFLICT DO NOTHING`,
})

export const insertActions = statement({
  name: 'dispatcher.deployment_actions.insert',
  parameters: {
    deployment_id: array(uuid),
    action_index: array(int4),
    sequence_id: array(uuid),
    sequence_name: array(text),
    sequence_version: array(text),
    sequence_order: array(int4),
    action_id: array(uuid),
    action_name: array(text),
    action_version: array(text),
    action_order: array(int4),
    timeout_seconds: array(int4),
    max_retries: array(int4),
    has_rollback: array(bool),
    variables: array(jsonb<VariableValues>()),
  },
  sql: `INSERT INTO deployment_actions (
      deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order, action_id, action_name,
      action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
    SELECT * FROM unnest(
      :deployment_id::uuid[], :action_index::int[], :sequence_id::uuid[], :sequence_name::text[],
      :sequence_version::text[], :sequence_order::int[], :action_id::uuid[], :action_name::text[],
      :action_version::text[], :action_order::int[], :timeout_seconds::int[], :max_retries::int[],
      :has_rollback::boolean[], :variables::jsonb[])`,
})

export const insertTargets = statement({
  name: 'dispatcher.deployment_targets.insert',
  parameters: {
    deployment_id: array(uuid),
    target_index: array(int4),
    target_id: array(uuid),
    target_name: array(text),
    variables: array(jsonb<VariableValues>()),
    values_hash: array(nullable(text)),
  },
  sql: `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables, values_hash)
    SELECT * FROM unnest(:deployment_id::uuid[], :target_index::int[], :target_id::uuid[], :target_name::text[],
      :variables::jsonb[], :values_hash::text[])`,
})

/** Steps are targets times actions. The database multiplies them, so they never cross the wire. */
export const insertSteps = statement({
  name: 'dispatcher.steps.insert',
  parameters: { deployment_id: array(uuid), target_count: array(int4), action_count: array(int4) },
  sql: `INSERT INTO steps (deployment_id, target_index, action_index)
    SELECT deployment_id, target_index, action_index
      FROM unnest(:deployment_id::uuid[], :target_count::int[], :action_count::int[])
             AS d (deployment_id, target_count, action_count),
           generate_series(0, target_count - 1) AS target_index,
           generate_series(0, action_count - 1) AS action_index`,
})

export const insertTransitions = statement({
  name: 'dispatcher.deployment_transitions.insert',
  parameters: {
    deployment_id: array(uuid),
    number: array(int4),
    from_state: array(nullable(deploymentState)),
    to_state: array(deploymentState),
    message: array(text),
  },
  sql: `INSERT INTO deployment_transitions (deployment_id, number, from_state, to_state, message)
    SELECT * FROM unnest(:deployment_id::uuid[], :number::int[], :from_state::deployment_state[],
                         :to_state::deployment_state[], :message::text[])`,
})

/** Notes that these deployments hold locks of targets. */
export const markLocking = statement({
  name: 'dispatcher.deployments.mark-locking',
  parameters: { ids: array(uuid) },
  sql: 'UPDATE deployments SET locks_targets = true WHERE id = ANY (:ids)',
})
