import { bool, int4, nullable, statement, text, uuid } from '@slipway/database'
import { isoTime, jsonObject, milliseconds, stepError } from '@slipway/database/read-models'

const TAIL_CHARACTERS = 2_000

const RESULT = jsonObject({
  id: 'step_id(r.deployment_id, r.target_index, r.action_index)',
  target_id: 't.target_id',
  target_name: 't.target_name',
  action_name: 'a.action_name',
  action_version: 'a.action_version',
  status: 'r.status',
  exit_code: 'r.exit_code',
  stdout_tail: `right(r.stdout_tail, ${TAIL_CHARACTERS})`,
  stderr_tail: `right(r.stderr_tail, ${TAIL_CHARACTERS})`,
  error_message: 'r.error_message',
  failure_reason: 'r.failure_reason',
  dropped_lines: 'coalesce(r.dropped_lines, 0)',
  started_at: isoTime('r.started_at'),
  completed_at: isoTime('r.completed_at'),
  duration_ms: milliseconds('r.started_at', 'r.completed_at'),
  analysis: 'r.analysis',
})

/**
 * The commands that ran, each with its result. Killed and lost commands have no result, and retention drops old results. In these
 * cases the data comes from the steps.
 */
const RESULTS = `SELECT deployment_id, target_index, action_index, c.status, c.exit_code, c.stdout_tail, c.stderr_tail,
           c.error_message, s.failure_reason, c.analysis, c.started_at, c.completed_at, s.dropped_lines
      FROM command_results c LEFT JOIN steps s USING (deployment_id, target_index, action_index)
     WHERE deployment_id = :id
    UNION ALL
    SELECT deployment_id, target_index, action_index,
           CASE WHEN state = 'cancelled' THEN 'cancelled' WHEN ever_failed THEN 'failed' ELSE 'completed' END,
           exit_code, NULL, NULL, ${stepError('s')}, failure_reason, NULL, coalesce(attempt_started_at, started_at), completed_at,
           dropped_lines
      FROM steps s
     WHERE deployment_id = :id AND state NOT IN ('pending', 'running', 'skipped')
       AND started_at IS NOT NULL AND completed_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM command_results c WHERE c.deployment_id = :id AND c.target_index = s.target_index
                                                       AND c.action_index = s.action_index)`

/** The results of ended commands, all or some, as JSON text, and whether the analysis of a failure is still missing. */
export const findResults = statement({
  name: 'gateway.deployments.find-results',
  parameters: { id: uuid, status: nullable(text), target_index: nullable(int4), action_index: nullable(int4) },
  row: { results: text, unexplained: nullable(bool) },
  sql: `SELECT coalesce(json_agg(json_strip_nulls(${RESULT})
             ORDER BY r.started_at, r.target_index, r.action_index), '[]')::text AS results,
           bool_or(r.status = 'failed' AND r.analysis IS NULL)
             AND (SELECT analysis_enabled FROM deployments WHERE id = :id) AS unexplained
      FROM (${RESULTS}) r
      JOIN deployment_targets t ON t.deployment_id = r.deployment_id AND t.target_index = r.target_index
      JOIN deployment_actions a ON a.deployment_id = r.deployment_id AND a.action_index = r.action_index
     WHERE (:status::text IS NULL OR r.status = :status)
       AND (:target_index::int IS NULL OR (r.target_index = :target_index AND r.action_index = :action_index))`,
})
