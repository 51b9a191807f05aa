import { int4, statement, text, uuid } from '@slipway/database'

/** Seconds for the check of an action that names none. */
const TIMEOUT_SECONDS = 60
/** A check takes a slot that others wait for, so it gets no more than this. */
const MAX_TIMEOUT_SECONDS = 300
/** After this time a check ends, whatever its instance does. */
const LONGEST_SECONDS = 3_600

/** SQL: the actions `a` of a deployment that declare a check, with the version `v` that declares it. */
const CHECKED_ACTIONS = `deployment_actions a
      JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version AND v.definition ? 'check'
     WHERE a.deployment_id = :deployment_id`

/** How many actions of a deployment declare a check. None if retention has deleted the deployment. */
export const countCheckedActions = statement({
  name: 'dispatcher.drift.count-actions',
  parameters: { deployment_id: uuid },
  row: { actions: int4 },
  sql: `SELECT count(*)::int AS actions FROM ${CHECKED_ACTIONS}`,
})

/**
 * A deployment that runs the checks of another one, with its values. Every check runs, whatever the others find.
 */
export const insertCheck = statement({
  name: 'dispatcher.drift.insert-deployment',
  parameters: { run_id: uuid, deployment_id: uuid, total_steps: int4 },
  sql: `INSERT INTO deployments (
      id, is_check, state, created_at, started_at, deadline_at, analysis_enabled, source_deployment_id, total_steps,
      tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name, source_version,
      plan_head, selection)
    SELECT :run_id, true, 'running', now(), now(), now() + interval '${LONGEST_SECONDS} seconds', false, id, :total_steps,
      tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name, source_version,
      plan_head || jsonb_build_object('options', plan_head -> 'options' || jsonb_build_object(
        'target_mode', 'parallel', 'failure_strategy', 'ignore_failures', 'rollback_strategy', 'none', 'max_retries', 0,
        'priority', -100, 'deployment_timeout_seconds', ${LONGEST_SECONDS})), selection
      FROM deployments WHERE id = :deployment_id`,
})

export const insertCheckedTargets = statement({
  name: 'dispatcher.drift.insert-targets',
  parameters: { run_id: uuid, deployment_id: uuid },
  sql: `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
    SELECT :run_id, row_number() OVER (ORDER BY t.target_index) - 1, t.target_id, t.target_name, t.variables
      FROM deployment_targets t
      JOIN release_checks c ON c.run_id = :run_id AND c.target_id = t.target_id
     WHERE t.deployment_id = :deployment_id`,
})

export const insertCheckedActions = statement({
  name: 'dispatcher.drift.insert-actions',
  parameters: { run_id: uuid, deployment_id: uuid },
  sql: `INSERT INTO deployment_actions (
      deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order, action_id, action_name,
      action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
    SELECT :run_id, row_number() OVER (ORDER BY a.action_index) - 1, a.sequence_id, a.sequence_name, a.sequence_version,
           a.sequence_order, a.action_id, a.action_name, a.action_version, a.action_order,
           least(coalesce((v.definition #>> '{check,timeout_seconds}')::int, (v.definition ->> 'timeout_seconds')::int,
                          ${TIMEOUT_SECONDS}), ${MAX_TIMEOUT_SECONDS}), 0, false, a.variables
      FROM ${CHECKED_ACTIONS}`,
})

/** Ends checks that cannot run. */
export const refuseRun = statement({
  name: 'dispatcher.drift.refuse-run',
  parameters: { run_id: uuid, message: text },
  sql: `UPDATE release_checks SET run_id = NULL, result = 'unknown', message = :message, checked_at = now()
     WHERE run_id = :run_id`,
})
