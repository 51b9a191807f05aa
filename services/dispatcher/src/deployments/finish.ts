import { PoisonMessage } from '@slipway/broker'
import type { EventBody } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, type Queryable, STILL_HELD } from '@slipway/database'
import { type DeploymentState, isFinalDeploymentState } from '@slipway/domain'
import { endLease } from '../leases/end.ts'
import { closeSteps } from './close-steps.ts'
import { failureOf } from './failure.ts'
import { deploymentUpdated, lockDeployment, transition } from './transitions.ts'

const ROLLBACK_BEGAN = 'Rolling back what was done'

/** Follows an instance that began to roll back; false when its epoch is over or the deployment is elsewhere by now. */
export function beginRollback(
  database: Database,
  { deployment_id, epoch }: EventBody<'run.rolling_back'>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id)
    if (!deployment || !(await holdsLease(tx, deployment_id, epoch))) return false
    if (!(await transition(tx, deployment_id, { to: 'rolling_back', message: ROLLBACK_BEGAN }))) return false
    await enqueue(tx, [deploymentUpdated(deployment, 'rolling_back')])
    return true
  })
}

/**
 * Ends a deployment as its instance says and frees the slot; false when the epoch is over: the deployment was
 * cancelled, timed out or given to another instance, or the message came before.
 */
export function finishDeployment(
  database: Database,
  { deployment_id, epoch, outcome, error_message }: EventBody<'run.finished'>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id)
    if (!deployment || isFinalDeploymentState(deployment.state)) return false
    const lease = await endLease(tx, deployment_id, 'finished', epoch)
    if (!lease) return false

    if (deployment.state === 'running' && (await rolledBackMeanwhile(tx, deployment_id, outcome))) {
      await transition(tx, deployment_id, { to: 'rolling_back', message: ROLLBACK_BEGAN })
    }
    const failure = outcome === 'success' ? null : await failureOf(tx, deployment_id, error_message)
    const message = failure ?? 'Every command was executed'
    if (!(await transition(tx, deployment_id, { to: outcome, message, error_message: failure }))) {
      throw new PoisonMessage(`a deployment in ${deployment.state} cannot become ${outcome}`)
    }
    await closeSteps(tx, deployment_id, {
      pending: 'skipped',
      running: 'failed',
      message: 'the deployment ended before the command did',
    })
    await enqueue(tx, [
      deploymentUpdated(deployment, outcome),
      eventMessage('slot.freed', { instance_id: lease.instance_id }),
    ])
    return true
  })
}

async function holdsLease(tx: Queryable, deploymentId: string, epoch: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM leases l WHERE deployment_id = $1 AND epoch = $2 AND ${STILL_HELD}`,
    [deploymentId, epoch],
  )
  return rowCount === 1
}

/** Events may change places on their way: then the end is told before the rollback that led to it. */
async function rolledBackMeanwhile(tx: Queryable, deploymentId: string, outcome: DeploymentState): Promise<boolean> {
  if (outcome === 'rolled_back') return true
  if (outcome !== 'failed') return false
  const { rowCount } = await tx.query(
    `SELECT FROM steps WHERE deployment_id = $1 AND state IN ('rolling_back', 'rolled_back', 'rollback_failed') LIMIT 1`,
    [deploymentId],
  )
  return rowCount === 1
}
