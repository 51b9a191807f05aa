import type { CommandBody, CommandReply } from '@slipway/contracts'
import { commandMessage, type Database, enqueue, eventMessage } from '@slipway/database'
import { conflict, notFound } from '@slipway/domain'
import { isPast } from '../clock.ts'
import { checkMayChange } from '../commands/visibility.ts'
import { endLease } from '../leases/end.ts'
import { closeSteps } from './close-steps.ts'
import { deploymentUpdated, lockDeployment, transition } from './transitions.ts'

/**
 * Cancels a deployment that has not ended: at once, whatever its instance does; that is told to kill what it runs.
 * Null past the deadline, when it has no effect.
 * @param repeated the command may have taken effect before: then what it asked for is no conflict
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function cancelDeployment(
  database: Database,
  { deployment_id, caller, reason }: CommandBody<'deployment.cancel'>,
  { deadline, repeated }: { deadline?: string | undefined; repeated: boolean },
): Promise<CommandReply<'deployment.cancel'> | null> {
  return database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const deployment = await lockDeployment(tx, deployment_id)
    if (!deployment) throw notFound('The deployment')
    checkMayChange(caller, deployment.tenant_id, 'The deployment')
    if (repeated && deployment.state === 'cancelled') return { deployment_id }

    // The lease first: a batch of events that is being applied is waited for, and none comes after it.
    const lease = await endLease(tx, deployment_id, 'cancelled')
    const why = reason === undefined ? '' : `: ${reason}`
    const message = `Cancelled by ${caller.username}${why}`
    if (!(await transition(tx, deployment_id, { to: 'cancelled', message, cancel_reason: reason ?? null }))) {
      throw conflict(`The deployment is ${deployment.state} and cannot be cancelled`, { state: deployment.state })
    }
    await closeSteps(tx, deployment_id, {
      pending: 'cancelled',
      running: 'cancelled',
      message: 'the deployment was cancelled while the command ran',
    })
    await enqueue(tx, [
      ...(lease ? [commandMessage('run.stop', { ...lease, reason: 'the deployment was cancelled' })] : []),
      deploymentUpdated(deployment, 'cancelled'),
      ...(lease ? [eventMessage('slot.freed', { instance_id: lease.instance_id })] : []),
    ])
    return { deployment_id }
  })
}
