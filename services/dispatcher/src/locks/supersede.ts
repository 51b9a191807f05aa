import { recordAudit } from '@slipway/audit'
import type { CallingKey, CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { supersedeRequests } from './locks.sql.ts'
import { idsOf, type LockedTargets } from './locks.ts'

interface NewerRequest {
  command: CommandBody<'deployment.start'>
  request_id: string | null
  api_key?: CallingKey | undefined
}

export interface Superseded {
  ids: string[]
  /** Since when the oldest of them waited: the newer request takes over its place. */
  queued_at: string | null
}

/**
 * Cancels pending requests of the same source and tenant whose targets are all among these, all with the policy `supersede`.
 */
export async function supersede(
  tx: Queryable,
  { command, request_id, api_key }: NewerRequest,
  locks: readonly LockedTargets[],
): Promise<Superseded> {
  const { plan, caller, command_id } = command
  const targets = idsOf(locks.filter(({ policy }) => policy === 'supersede'))
  if (targets.length === 0) return { ids: [], queued_at: null }
  const older = await supersedeRequests.all(tx, {
    target_ids: targets,
    source_id: plan.source.id,
    tenant_id: plan.tenant?.id ?? null,
    by: command_id,
    message: `Superseded by the request ${command_id} of ${caller.username}`,
  })
  if (older.length === 0) return { ids: [], queued_at: null }
  await Promise.all([
    enqueue(
      tx,
      older.map(({ id, tenant_id }) =>
        eventMessage('pending.updated', { pending_request_id: id, tenant_id, status: 'cancelled' }),
      ),
    ),
    recordAudit(
      tx,
      older.map(({ id, tenant_id }) => ({
        actor_id: caller.user_id,
        actor_name: caller.username,
        actor_ip: caller.ip,
        api_key,
        action: 'pending_request.supersede',
        resource_type: 'pending_request',
        resource_id: id,
        tenant_id,
        request_id,
        details: { superseded_by: command_id },
      })),
    ),
  ])
  return { ids: older.map(({ id }) => id), queued_at: older.map(({ queued_at }) => queued_at).sort()[0] ?? null }
}
