import type { EventBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

/** What becomes of the steps that have not ended when their deployment does. */
export interface StepClosing {
  pending: 'skipped' | 'cancelled'
  running: 'failed' | 'cancelled'
  /** Why a step that was running did not end by itself. */
  message: string
  /** Whether commands that ran have yet to be killed: their ends are unconfirmed until the instance tells. */
  killed?: true
}

/**
 * Ends every step that has not ended; a rollback that had begun counts as failed. Only after the deployment's lease has
 * ended: until then the steps are the executor-bridge's to move.
 */
export async function closeSteps(tx: Queryable, deploymentId: string, closing: StepClosing): Promise<void> {
  await tx.query(
    `UPDATE steps
        SET state = CASE state WHEN 'pending' THEN $2::step_state
                               WHEN 'running' THEN $3::step_state
                               ELSE 'rollback_failed' END,
            ever_failed = ever_failed OR (state = 'running' AND $3::step_state = 'failed'),
            error_message = CASE WHEN state = 'running' THEN $4 ELSE error_message END,
            end_confirmed = CASE WHEN state = 'running' AND $5 THEN false ELSE end_confirmed END,
            completed_at = CASE WHEN state = 'running' THEN clock_timestamp() ELSE completed_at END
      WHERE deployment_id = $1 AND state IN ('pending', 'running', 'rolling_back')`,
    [deploymentId, closing.pending, closing.running, closing.message, closing.killed ?? false],
  )
}

/**
 * Records that the instance has stopped a run, and of each command that it killed whether the end is confirmed. Returns false
 * if that was recorded before, or if another instance has run the deployment since.
 */
export async function confirmEnds(
  database: Queryable,
  { deployment_id, epoch, unconfirmed }: EventBody<'run.stopped'>,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `WITH doubt AS (SELECT * FROM unnest($3::int[], $4::int[]) AS doubt (target_index, action_index)),
     stopped AS (
       UPDATE leases l SET stopped_at = clock_timestamp()
        WHERE deployment_id = $1 AND epoch = $2 AND ended_at IS NOT NULL AND stopped_at IS NULL
          AND NOT EXISTS (SELECT FROM leases later WHERE later.deployment_id = $1 AND later.epoch > $2)
       RETURNING epoch
     ), confirmed AS (
     UPDATE steps s
        SET end_confirmed = s.end_confirmed IS NOT NULL,
            error_message = coalesce(s.error_message, 'the deployment was cancelled')
      WHERE s.deployment_id = $1
        AND EXISTS (SELECT FROM doubt d WHERE d.target_index = s.target_index AND d.action_index = s.action_index)
            = (s.end_confirmed IS NULL)
        AND (s.end_confirmed = false OR (s.end_confirmed IS NULL AND s.state = 'cancelled'))
        AND EXISTS (SELECT FROM stopped))
     SELECT FROM stopped`,
    [deployment_id, epoch, unconfirmed.map(([target]) => target), unconfirmed.map(([, action]) => action)],
  )
  return (rowCount ?? 0) > 0
}
