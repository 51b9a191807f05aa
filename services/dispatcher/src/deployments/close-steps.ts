import type { EventBody } from '@slipway/contracts'
import { type Database, type Queryable, type StepClosing, writeSteps } from '@slipway/database'
import { noteStopped } from './deployments.sql.ts'

/**
 * Ends every open step of a deployment that has ended. A rollback that has begun counts as failed. Call it only after the lease
 * has ended: under a live lease the executor-bridge moves the steps.
 */
export async function closeSteps(tx: Queryable, deploymentId: string, closing: StepClosing): Promise<void> {
  await writeSteps(tx, { kind: 'closed', deploymentId, ...closing })
}

/**
 * Records that the instance has stopped a run, and for each killed command whether its end is confirmed. Returns false if that
 * is already recorded, or if another instance has run the deployment since.
 */
export async function confirmEnds(
  database: Database,
  { deployment_id, epoch, unconfirmed }: EventBody<'run.stopped'>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if ((await noteStopped.first(tx, { deployment_id, epoch })) === null) return false
    await writeSteps(tx, { kind: 'stopped', deploymentId: deployment_id, epoch, doubt: unconfirmed })
    return true
  })
}
