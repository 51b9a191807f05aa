import type { Queryable } from '@slipway/database'

/** What becomes of the steps that have not ended when their deployment does. */
export interface StepClosing {
  pending: 'skipped' | 'cancelled'
  running: 'failed' | 'cancelled'
  /** Why a step that was running did not end by itself. */
  message: string
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
            completed_at = CASE WHEN state = 'running' THEN clock_timestamp() ELSE completed_at END
      WHERE deployment_id = $1 AND state IN ('pending', 'running', 'rolling_back')`,
    [deploymentId, closing.pending, closing.running, closing.message],
  )
}
