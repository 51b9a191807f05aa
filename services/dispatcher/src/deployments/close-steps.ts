import type { EventBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { closeOpenSteps, noteStopped } from './deployments.sql.ts'

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
  await closeOpenSteps.run(tx, { killed: false, ...closing, deployment_id: deploymentId })
}

/**
 * Records that the instance has stopped a run, and of each command that it killed whether the end is confirmed. Returns false
 * if that was recorded before, or if another instance has run the deployment since.
 */
export async function confirmEnds(
  database: Queryable,
  { deployment_id, epoch, unconfirmed }: EventBody<'run.stopped'>,
): Promise<boolean> {
  const stopped = await noteStopped.first(database, {
    deployment_id,
    epoch,
    targets: unconfirmed.map(([target]) => target),
    actions: unconfirmed.map(([, action]) => action),
  })
  return stopped !== null
}
