import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/audit'
import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, isPast, type ReceivedCommand } from '@slipway/database'
import { conflict, notFound, pendingSourcesOf } from '@slipway/domain'
import { checkMayChange } from '../deployments/visibility.ts'
import { cancelRequest, lockRequest } from './queue.sql.ts'

/**
 * Takes a request out of the queue for good. A drain that has it in hand is waited for: either that dispatches it or
 * this cancels it. Null past the deadline or once it was refused, when it has no effect. The same command gives the same
 * answer however often it comes.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function cancelPending(
  database: Database,
  { pending_request_id: id, caller }: CommandBody<'pending.cancel'>,
  { command_id, deadline, request_id }: ReceivedCommand,
): Promise<CommandReply<'pending.cancel'> | null> {
  const done = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const request = await lockRequest.first(tx, { id })
    if (!request) throw notFound('The pending request')
    checkMayChange(caller, request.tenant_id, 'The pending request')
    if (request.status === 'cancelled' && (await wasCarriedOut(tx, command_id))) return { pending_request_id: id }

    const cancelled = await cancelRequest.run(tx, { id, from: pendingSourcesOf('cancelled') })
    if (cancelled === 0) throw conflict(`The request is ${request.status} already`, { status: request.status })
    await enqueue(tx, [
      eventMessage('pending.updated', { pending_request_id: id, tenant_id: request.tenant_id, status: 'cancelled' }),
    ])
    await recordCall(tx, {
      command_id,
      action: 'pending_request.cancel',
      caller,
      request_id,
      resource_id: id,
      tenant_id: request.tenant_id,
      details: { status: request.status },
    })
    return { pending_request_id: id }
  })
  return unlessRefused(done)
}
