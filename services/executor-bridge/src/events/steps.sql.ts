import type { Analysis } from '@slipway/analysis'
import { array, bool, int4, jsonb, nullable, statement, stepState, text, timestamptz, uuid } from '@slipway/database'

/**
 * Moves a time by the clock of the instance between the start of its lease and the present. Without the first bound, a release
 * from an instance with a clock behind counts as older than the release that it replaced. LEAST ignores null, so CASE keeps it.
 */
const withinLease = (time: string) =>
  `CASE WHEN change.${time} IS NOT NULL
        THEN greatest(least(change.${time}::timestamptz, clock_timestamp()), :lease_began::timestamptz) END AS ${time}`

/**
 * Moves steps, each only from one of its `sources` (separated by commas), and stores the results of commands that ended.
 *
 * LATERAL finds each step by its key, and the update uses its ctid. With a join on a table without statistics, Postgres reads
 * all steps of the deployment, and `plans` misses goal 8. No other transaction moves these steps in between: lockRun has locked the progress of the run.
 */
export const updateSteps = statement({
  name: 'executor-bridge.steps.update',
  parameters: {
    ...{
      deployment_id: uuid,
      lease_began: timestamptz,
      targets: array(int4),
      actions: array(int4),
      sources: array(text),
      states: array(text),
    },
    ...{ retry_counts: array(nullable(int4)), started_at: array(nullable(text)) },
    ...{ attempt_started_at: array(nullable(text)), completed_at: array(nullable(text)) },
    ...{ statuses: array(nullable(text)), exit_codes: array(nullable(int4)), error_messages: array(nullable(text)) },
    reasons: array(nullable(text)),
    ...{ result_started_at: array(nullable(text)), stdout_tails: array(text), stderr_tails: array(text) },
    analyses: array(nullable(jsonb<Analysis>())),
  },
  row: {
    ...{ target: int4, action: int4, before: stepState, state: stepState },
    ...{ exit_code: nullable(int4), error_message: nullable(text), newly_failed: bool },
  },
  sql: `WITH change AS (
      SELECT change.target, change.action, change.state, retry_count, status, exit_code, error_message, reason,
             stdout_tail, stderr_tail, analysis, ${['started_at', 'attempt_started_at'].map(withinLease).join(', ')},
             ${['completed_at', 'result_started_at'].map(withinLease).join(', ')}, found.*
        FROM unnest(:targets::int[], :actions::int[], :sources::text[], :states::text[], :retry_counts::int[],
                    :started_at::text[], :attempt_started_at::text[], :completed_at::text[],
                    :statuses::text[], :exit_codes::int[], :error_messages::text[], :reasons::text[], :result_started_at::text[],
                    :stdout_tails::text[], :stderr_tails::text[], :analyses::jsonb[])
          AS change (target, action, sources, state, retry_count, started_at, attempt_started_at, completed_at, status,
                     exit_code, error_message, reason, result_started_at, stdout_tail, stderr_tail, analysis)
       CROSS JOIN LATERAL (
         SELECT s.ctid AS place, s.state AS before, s.ever_failed AS failed_before FROM steps s
          WHERE s.deployment_id = :deployment_id AND s.target_index = change.target AND s.action_index = change.action
            AND s.state::text = ANY (string_to_array(change.sources, ',')) LIMIT 1) found
    ), moved AS (
      UPDATE steps s SET state = c.state::step_state, retry_count = greatest(s.retry_count, c.retry_count),
             ever_failed = s.ever_failed OR c.status IS NOT DISTINCT FROM 'failed',
             exit_code = CASE WHEN c.status IS NULL THEN s.exit_code ELSE c.exit_code END,
             error_message = CASE WHEN c.status IS NULL THEN s.error_message ELSE c.error_message END,
             failure_reason = CASE WHEN c.status IS NULL THEN s.failure_reason ELSE c.reason END,
             started_at = coalesce(s.started_at, c.started_at), completed_at = coalesce(c.completed_at, s.completed_at),
             attempt_started_at = coalesce(c.attempt_started_at, s.attempt_started_at)
        FROM change c WHERE s.ctid = c.place AND s.state = c.before
      RETURNING c.*, s.state AS after, s.exit_code AS last_exit_code, s.error_message AS last_error, s.ever_failed
    ), kept AS (
      INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail,
                                   stderr_tail, error_message, analysis, started_at, completed_at)
      SELECT :deployment_id, target, action, status, exit_code, stdout_tail, stderr_tail, error_message, analysis,
             result_started_at, completed_at FROM moved WHERE status IS NOT NULL
      ON CONFLICT (deployment_id, target_index, action_index) DO UPDATE SET status = EXCLUDED.status,
        exit_code = EXCLUDED.exit_code, stdout_tail = EXCLUDED.stdout_tail, stderr_tail = EXCLUDED.stderr_tail,
        error_message = EXCLUDED.error_message, analysis = EXCLUDED.analysis, started_at = EXCLUDED.started_at,
        completed_at = EXCLUDED.completed_at)
    SELECT target, action, before, after AS state, last_exit_code AS exit_code, last_error AS error_message,
           ever_failed AND NOT failed_before AS newly_failed FROM moved`,
})
