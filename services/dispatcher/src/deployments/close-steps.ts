import type { EventBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { CommandFailureReason } from '@slipway/domain'
import { closeOpenSteps, noteStopped } from './deployments.sql.ts'

/** The states and the message for steps that have not ended when their deployment ends. */
interface StepClosing {
  pending: 'skipped' | 'cancelled'
  running: 'failed' | 'cancelled'
  /** Why a running step did not end normally. */
  message: string
  reason: CommandFailureReason | null
  /** Whether running commands still have to be killed. Their ends are unconfirmed until the instance reports them. */
  killed?: true
}

/**
 * Ends every open step. A rollback that has begun counts as failed. Call it only after the lease has ended: under a live lease
 * the executor-bridge moves the steps.
 */
export async function closeSteps(tx: Queryable, deploymentId: string, closing: StepClosing): Promise<void> {
  await closeOpenSteps.run(tx, { killed: false, ...closing, deployment_id: deploymentId })
}

/**
 * Records that the instance has stopped a run, and for each killed command whether its end is confirmed. Returns false if that
 * is already recorded, or if another instance has run the deployment since.
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
