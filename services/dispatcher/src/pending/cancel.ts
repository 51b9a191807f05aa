import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, enqueue, eventMessage } from '@slipway/database'
import { conflict, notFound, type PendingState, pendingSourcesOf } from '@slipway/domain'
import { isPast } from '../clock.ts'
import { checkMayChange } from '../commands/visibility.ts'

/**
 * Takes a request out of the queue for good. A drain that has it in hand is waited for: either that dispatches it or
 * this cancels it. Null past the deadline, when it has no effect.
 * @param repeated the command may have taken effect before: then what it asked for is no conflict
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function cancelPending(
  database: Database,
  { pending_request_id: id, caller }: CommandBody<'pending.cancel'>,
  { deadline, repeated }: { deadline?: string | undefined; repeated: boolean },
): Promise<CommandReply<'pending.cancel'> | null> {
  return database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    const { rows } = await tx.query<{ tenant_id: string | null; status: PendingState }>(
      'SELECT tenant_id, status FROM pending_requests WHERE id = $1 FOR UPDATE',
      [id],
    )
    const [request] = rows
    if (!request) throw notFound('The pending request')
    checkMayChange(caller, request.tenant_id, 'The pending request')
    if (repeated && request.status === 'cancelled') return { pending_request_id: id }

    const { rowCount } = await tx.query(
      `UPDATE pending_requests SET status = 'cancelled' WHERE id = $1 AND status = ANY($2::pending_status[])`,
      [id, pendingSourcesOf('cancelled')],
    )
    if (rowCount === 0) throw conflict(`The request is ${request.status} already`, { status: request.status })
    await enqueue(tx, [
      eventMessage('pending.updated', { pending_request_id: id, tenant_id: request.tenant_id, status: 'cancelled' }),
    ])
    return { pending_request_id: id }
  })
}
