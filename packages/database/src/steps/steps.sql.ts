import { rowSet, statement } from '../sql/statement.ts'
import { array, bool, int4, int8, jsonb, nullable, stepState, text, timestamptz, uuid } from '../sql/types.ts'

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
 * LATERAL finds each step by its key, and the update uses its ctid: a join on a table without statistics reads all steps of the
 * deployment (goal: step transitions). No other transaction moves these steps in between: the caller has locked the progress of the
 * run.
 */
export const moveSteps = statement({
  name: 'database.steps.move',
  parameters: {
    deployment_id: uuid,
    lease_began: timestamptz,
    moves: rowSet({
      target: int4,
      action: int4,
      sources: text,
      state: text,
      retry_count: nullable(int4),
      started_at: nullable(text),
      attempt_started_at: nullable(text),
      completed_at: nullable(text),
      status: nullable(text),
      exit_code: nullable(int4),
      error_message: nullable(text),
      reason: nullable(text),
      result_started_at: nullable(text),
      stdout_tail: text,
      stderr_tail: text,
      analysis: nullable(jsonb<object>()),
    }),
  },
  row: {
    target: int4,
    action: int4,
    before: stepState,
    state: stepState,
    exit_code: nullable(int4),
    error_message: nullable(text),
    newly_failed: bool,
  },
  sql: `WITH change AS (
      SELECT change.target, change.action, change.state, retry_count, status, exit_code, error_message, reason,
             stdout_tail, stderr_tail, analysis, ${['started_at', 'attempt_started_at'].map(withinLease).join(', ')},
             ${['completed_at', 'result_started_at'].map(withinLease).join(', ')}, found.*
        FROM :moves AS change
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

/** Adds what a batch changed to the counts of its run. */
export const addCounts = statement({
  name: 'database.steps.add-counts',
  parameters: { deployment_id: uuid, ended: int4, completed: int4, failed: int4 },
  row: { completed_steps: int4, ended_steps: int4 },
  sql: `UPDATE run_progress SET ended_steps = ended_steps + :ended, completed_steps = completed_steps + :completed,
           failed_steps = failed_steps + :failed
     WHERE deployment_id = :deployment_id RETURNING completed_steps, ended_steps`,
})

/** Counts dropped output lines of commands. */
export const addDropped = statement({
  name: 'database.steps.add-dropped',
  parameters: { deployment_id: uuid, dropped: rowSet({ target: int4, action: int4, lines: int4 }) },
  sql: `UPDATE steps s SET dropped_lines = coalesce(dropped_lines, 0) + c.lines
      FROM :dropped AS c
     WHERE s.deployment_id = :deployment_id AND s.target_index = c.target AND s.action_index = c.action`,
})

/** Ends every open step. A rollback that has begun counts as failed. */
export const closeSteps = statement({
  name: 'database.steps.close',
  parameters: {
    deployment_id: uuid,
    pending: stepState,
    running: stepState,
    message: text,
    reason: nullable(text),
    killed: bool,
  },
  sql: `UPDATE steps
       SET state = CASE state WHEN 'pending' THEN :pending::step_state
                              WHEN 'running' THEN :running::step_state
                              ELSE 'rollback_failed' END,
           ever_failed = ever_failed OR (state = 'running' AND :running::step_state = 'failed'),
           error_message = CASE WHEN state = 'running' THEN :message ELSE error_message END,
           failure_reason = CASE WHEN state = 'running' THEN :reason ELSE failure_reason END,
           end_confirmed = CASE WHEN state = 'running' AND :killed::bool THEN false ELSE end_confirmed END,
           completed_at = CASE WHEN state = 'running' THEN clock_timestamp() ELSE completed_at END
     WHERE deployment_id = :deployment_id AND state IN ('pending', 'running', 'rolling_back')`,
})

/**
 * The result of a command whose instance was lost is unknown, so the attempt counts as failed. The step is pending again if
 * retries are left, else failed. Steps that were rolling back stay as they are: the next instance repeats the rollback.
 */
export const loseAttempts = statement({
  name: 'database.steps.lose-attempts',
  parameters: { deployment_ids: array(uuid), message: text },
  sql: `UPDATE steps s
       SET state = CASE WHEN s.retry_count < a.max_retries THEN 'pending'::step_state ELSE 'failed' END,
           retry_count = CASE WHEN s.retry_count < a.max_retries THEN s.retry_count + 1 ELSE s.retry_count END,
           ever_failed = s.ever_failed OR s.retry_count >= a.max_retries,
           error_message = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE :message END,
           failure_reason = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE 'instance_lost' END,
           end_confirmed = CASE WHEN s.retry_count < a.max_retries THEN s.end_confirmed ELSE false END,
           started_at = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE s.started_at END,
           completed_at = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE clock_timestamp() END
      FROM deployment_actions a
     WHERE s.deployment_id = ANY(:deployment_ids) AND s.state = 'running'
       AND a.deployment_id = s.deployment_id AND a.action_index = s.action_index`,
})

/** Records for each killed command of a stopped run whether its end is confirmed. The given ones are in doubt. */
export const confirmEnds = statement({
  name: 'database.steps.confirm-ends',
  parameters: { deployment_id: uuid, doubt: rowSet({ target_index: int4, action_index: int4 }) },
  sql: `UPDATE steps s
       SET end_confirmed = s.end_confirmed IS NOT NULL,
           error_message = coalesce(s.error_message, 'the deployment was cancelled')
     WHERE s.deployment_id = :deployment_id
       AND EXISTS (SELECT FROM :doubt AS d WHERE d.target_index = s.target_index AND d.action_index = s.action_index)
           = (s.end_confirmed IS NULL)
       AND (s.end_confirmed = false OR (s.end_confirmed IS NULL AND s.state = 'cancelled'))`,
})

/** Releases the locks of a run that was stopped: its instance has reported that no command runs any more. */
export const freeLocksOfRun = statement({
  name: 'database.steps.free-locks-of-run',
  parameters: { deployment_id: uuid, epoch: int8 },
  sql: `UPDATE target_locks k SET deployment_id = NULL, epoch = NULL
      FROM deployment_targets p
     WHERE p.deployment_id = :deployment_id AND k.target_id = p.target_id AND k.epoch = :epoch`,
})

/**
 * Releases the locks of a deployment that has ended. If the deployment was stopped while a command ran on a target, its lock
 * stays until the instance has reported that the command is gone.
 */
export const freeLocksOfEnded = statement({
  name: 'database.steps.free-locks-of-ended',
  parameters: { deployment_id: uuid },
  sql: `UPDATE target_locks k SET deployment_id = NULL, epoch = NULL
      FROM deployments d JOIN deployment_targets p ON p.deployment_id = d.id
     WHERE d.id = :deployment_id AND d.completed_at IS NOT NULL AND d.locks_targets
       AND k.target_id = p.target_id AND k.deployment_id = d.id
       AND NOT EXISTS (
         SELECT FROM leases l
          WHERE l.epoch = k.epoch AND l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL
            AND EXISTS (SELECT FROM steps s WHERE s.deployment_id = k.deployment_id AND s.target_index = p.target_index
                           AND s.state IN ('running', 'rolling_back')))`,
})
