import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, isPast, type ReceivedCommand } from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { requireChangeable } from '@slipway/database/read-models'
import { conflict } from '@slipway/domain'
import { endLease } from '../leases/leases.ts'
import { closeSteps } from './close-steps.ts'
import { deploymentUpdated, lockDeployment, transition } from './transitions.ts'

/**
 * Cancels a deployment that has not ended. Takes effect at once, whatever its instance does; the instance kills the commands.
 * Returns null without effect after the deadline or a refusal. A repeated command returns the same answer.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function cancelDeployment(
  database: Database,
  { deployment_id, caller, reason }: CommandBody<'deployment.cancel'>,
  { command_id, deadline, request_id, api_key }: ReceivedCommand,
): Promise<CommandReply<'deployment.cancel'> | null> {
  const cancelled = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const found = await lockDeployment(tx, deployment_id)
    const deployment = requireChangeable(caller, found, 'deployments:cancel', 'The deployment')
    if (deployment.state === 'cancelled' && (await wasCarriedOut(tx, command_id))) return { deployment_id }

    // End the lease first. This waits for the event batch in progress and rejects every later batch.
    const lease = await endLease(tx, deployment_id, 'cancelled')
    const why = reason === undefined ? '' : `: ${reason}`
    const message = `Cancelled by ${caller.username}${why}`
    const by = { cancelled_by: caller.username, cancel_reason: reason ?? null }
    if (!(await transition(tx, deployment_id, { to: 'cancelled', message, ...by }))) {
      throw conflict(`A deployment in the state ${deployment.state} cannot be cancelled`, { state: deployment.state })
    }
    await closeSteps(tx, deployment_id, {
      pending: 'cancelled',
      running: 'cancelled',
      message: 'the deployment was cancelled while the command ran',
      reason: null,
      killed: true,
    })
    await enqueue(tx, [
      ...(lease ? [eventMessage('lease.changed', { instance_id: lease.instance_id })] : []),
      ...deploymentUpdated(deployment, 'cancelled'),
      ...(lease ? [eventMessage('slot.freed', { instance_id: lease.instance_id })] : []),
    ])
    await recordCall(tx, {
      command_id,
      action: 'deployment.cancel',
      caller,
      api_key,
      request_id,
      resource_id: deployment_id,
      tenant_id: deployment.tenant_id,
      details: { state: deployment.state, reason: reason ?? null },
    })
    return { deployment_id }
  })
  return unlessRefused(cancelled)
}
