import type { StoredLine } from '@slipway/contracts'
import {
  array,
  bool,
  deploymentState,
  int4,
  int8,
  jsonb,
  nullable,
  rowSet,
  statement,
  stepState,
  text,
  uuid,
} from '@slipway/database'
import { AWAITS_LAST_OUTPUT, ownSql, stepError } from '@slipway/database/read-models'

/** The deployment, if the caller may see it: callers without a tenant see all, others their own. */
export const findVisible = statement({
  name: 'log-stream.deployments.find-visible',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row: { id: uuid },
  sql: `SELECT d.id FROM deployments d WHERE d.id = :id AND ${ownSql('d')}`,
})

const HEAD = {
  row: { id: uuid, state: deploymentState, epoch: int8, next_event: int8, awaits_output: bool },
  columns: `d.id, d.state, coalesce(p.epoch, 0) AS epoch, coalesce(p.next_event, 0) AS next_event,
       d.completed_at IS NOT NULL AND EXISTS (
         SELECT FROM leases l WHERE l.deployment_id = d.id AND ${AWAITS_LAST_OUTPUT}) AS awaits_output`,
  from: 'FROM deployments d LEFT JOIN run_progress p ON p.deployment_id = d.id',
}

/** The progress of these deployments, in one query for all watched deployments. */
export const findHeads = statement({
  name: 'log-stream.deployments.find-heads',
  parameters: { ids: array(uuid) },
  row: HEAD.row,
  sql: `SELECT ${HEAD.columns} ${HEAD.from} WHERE d.id = ANY (:ids)`,
})

export const findProgress = statement({
  name: 'log-stream.deployments.find-progress',
  parameters: { id: uuid },
  row: { ...HEAD.row, total_steps: int4, next_line: int8, ended_steps: int4, completed_steps: int4 },
  sql: `SELECT ${HEAD.columns}, d.total_steps, coalesce(p.next_line, 0) AS next_line,
       coalesce(p.ended_steps, 0) AS ended_steps, coalesce(p.completed_steps, 0) AS completed_steps
     ${HEAD.from} WHERE d.id = :id`,
})

export const findTargets = statement({
  name: 'log-stream.deployments.find-targets',
  parameters: { deployment_id: uuid },
  row: { id: uuid, name: text },
  sql: `SELECT target_id AS id, target_name AS name FROM deployment_targets
     WHERE deployment_id = :deployment_id ORDER BY target_index`,
})

/** In the order of the plan. */
export const findActions = statement({
  name: 'log-stream.deployments.find-actions',
  parameters: { deployment_id: uuid },
  row: { version: text },
  sql: `SELECT action_version AS version FROM deployment_actions
     WHERE deployment_id = :deployment_id ORDER BY action_index`,
})

export const findTransitions = statement({
  name: 'log-stream.deployments.find-transitions',
  parameters: { deployment_id: uuid },
  row: { from_state: nullable(deploymentState), to_state: deploymentState, message: text },
  sql: `SELECT from_state, to_state, message FROM deployment_transitions
     WHERE deployment_id = :deployment_id ORDER BY number`,
})

/** All steps that are not pending. */
export const findSteps = statement({
  name: 'log-stream.deployments.find-steps',
  parameters: { deployment_id: uuid },
  row: { target: int4, action: int4, state: stepState, exit_code: nullable(int4), error_message: nullable(text) },
  sql: `SELECT target_index AS target, action_index AS action, state, exit_code, ${stepError('s')} AS error_message
      FROM steps s WHERE deployment_id = :deployment_id AND state <> 'pending' ORDER BY target_index, action_index`,
})

/** The output of the commands of these steps. */
export const findOutputs = statement({
  name: 'log-stream.deployments.find-outputs',
  parameters: { deployment_id: uuid, steps: rowSet({ target_index: int4, action_index: int4 }) },
  row: { target: int4, action: int4, stdout: text, stderr: text },
  sql: `SELECT r.target_index AS target, r.action_index AS action, r.stdout_tail AS stdout, r.stderr_tail AS stderr
      FROM command_results r
      JOIN :steps AS step USING (target_index, action_index)
     WHERE r.deployment_id = :deployment_id`,
})

/** The chunk of the log that holds the line `from_line`, and some that follow it up to `to_line`. */
export const findChunks = statement({
  name: 'log-stream.deployments.find-chunks',
  parameters: { deployment_id: uuid, from_line: int8, to_line: int8 },
  row: { first_line: int8, lines: jsonb<StoredLine[]>() },
  sql: `SELECT first_line, lines FROM log_chunks
     WHERE deployment_id = :deployment_id AND first_line < :to_line AND first_line >= (
       SELECT coalesce(max(first_line), 0) FROM log_chunks
        WHERE deployment_id = :deployment_id AND first_line <= :from_line)
     ORDER BY first_line LIMIT 16`,
})
