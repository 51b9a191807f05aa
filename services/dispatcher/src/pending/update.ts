import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, isPast, type ReceivedCommand } from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { requireChangeable } from '@slipway/database/read-models'
import { conflict } from '@slipway/domain'
import { lockRequest, setPriority } from './queue.sql.ts'

/**
 * Changes the priority of a pending request; its age stays. Waits for a transaction that dispatches it. Returns null without
 * effect after the deadline or a refusal. A repeated command returns the same answer.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function updatePending(
  database: Database,
  { pending_request_id: id, caller, priority }: CommandBody<'pending.update'>,
  { command_id, deadline, request_id, api_key }: ReceivedCommand,
): Promise<CommandReply<'pending.update'> | null> {
  const updated = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const found = await lockRequest.first(tx, { id })
    const request = requireChangeable(caller, found, 'deployments:create', 'The pending request')
    if (await wasCarriedOut(tx, command_id)) return { pending_request_id: id }
    if (request.status !== 'pending') {
      throw conflict(`The status of the request is ${request.status} already`, { status: request.status })
    }
    await setPriority.run(tx, { id, priority })
    await enqueue(tx, [
      eventMessage('pending.updated', { pending_request_id: id, tenant_id: request.tenant_id, status: 'pending' }),
    ])
    await recordCall(tx, {
      command_id,
      action: 'pending_request.update',
      caller,
      api_key,
      request_id,
      resource_id: id,
      tenant_id: request.tenant_id,
      details: { priority, former_priority: request.priority },
    })
    return { pending_request_id: id }
  })
  return unlessRefused(updated)
}
