import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, isPast, type ReceivedCommand } from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { requireChangeable } from '@slipway/database/read-models'
import { conflict, pendingSourcesOf } from '@slipway/domain'
import { lockRequest } from './queue.sql.ts'
import { cancelRequest } from './status.sql.ts'

/**
 * Cancels a pending request. Waits for a transaction that dispatches it: then either the dispatch or the cancel has effect.
 * Returns null without effect after the deadline or a refusal. A repeated command returns the same answer.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function cancelPending(
  database: Database,
  { pending_request_id: id, caller }: CommandBody<'pending.cancel'>,
  { command_id, deadline, request_id, api_key }: ReceivedCommand,
): Promise<CommandReply<'pending.cancel'> | null> {
  const done = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const found = await lockRequest.first(tx, { id })
    const request = requireChangeable(caller, found, 'deployments:cancel', 'The pending request')
    if (request.status === 'cancelled' && (await wasCarriedOut(tx, command_id))) return { pending_request_id: id }

    const cancelled = await cancelRequest.all(tx, { id, from: pendingSourcesOf('cancelled') })
    if (cancelled.length === 0)
      throw conflict(`The status of the request is ${request.status} already`, { status: request.status })
    await enqueue(tx, [
      eventMessage('pending.updated', { pending_request_id: id, tenant_id: request.tenant_id, status: 'cancelled' }),
    ])
    await recordCall(tx, {
      command_id,
      action: 'pending_request.cancel',
      caller,
      api_key,
      request_id,
      resource_id: id,
      tenant_id: request.tenant_id,
      details: { status: request.status },
    })
    return { pending_request_id: id }
  })
  return unlessRefused(done)
}
