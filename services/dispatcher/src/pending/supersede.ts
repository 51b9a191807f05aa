import type { CallingKey, CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import { supersedeRequests } from './status.sql.ts'

interface NewerRequest {
  command: CommandBody<'deployment.start'>
  request_id: string | null
  api_key?: CallingKey | undefined
  /** The pending requests that it replaces. */
  supersedes: readonly string[]
}

export interface Superseded {
  ids: string[]
  /** Since when the oldest of them waited: the newer request takes over its place. */
  queued_at: string | null
}

/** Cancels the pending requests that newer ones replace. Returns those that still waited, by id of the newer one. */
export async function supersede(tx: Queryable, requests: readonly NewerRequest[]): Promise<Map<string, Superseded>> {
  const replaced = requests.flatMap(({ command, supersedes }) => supersedes.map((id) => ({ id, command })))
  if (replaced.length === 0) return new Map()
  const older = await supersedeRequests.all(tx, {
    ids: replaced.map(({ id }) => id),
    superseded: replaced.map(({ id, command: { command_id, caller } }) => ({
      id,
      newer_id: command_id,
      message: `Superseded by the request ${command_id} of ${caller.username}`,
    })),
  })
  const grouped = new Map<string, RowOf<typeof supersedeRequests>[]>()
  for (const one of older) {
    const group = grouped.get(one.newer_id)
    if (group === undefined) grouped.set(one.newer_id, [one])
    else group.push(one)
  }
  const byNewer = (newer: string) => grouped.get(newer) ?? []
  await Promise.all([
    enqueue(
      tx,
      older.map(({ id, tenant_id }) =>
        eventMessage('pending.updated', { pending_request_id: id, tenant_id, status: 'cancelled' }),
      ),
    ),
    recordAudit(
      tx,
      requests.flatMap(({ command: { command_id, caller }, request_id, api_key }) =>
        byNewer(command_id).map(({ id, tenant_id }) => ({
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
    ),
  ])
  return new Map(
    requests.map(({ command: { command_id } }) => {
      const its = byNewer(command_id)
      const queued_at = its.flatMap((one) => one.queued_at ?? []).sort()[0] ?? null
      return [command_id, { ids: its.map(({ id }) => id), queued_at }]
    }),
  )
}
