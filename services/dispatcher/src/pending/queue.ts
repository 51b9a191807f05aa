import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { type FreezesInForce, freezesInForce } from '../freezes/held.ts'
import { addRequests, findNext, findNextOfEach, findSubjects, renewSubjectsOf } from './queue.sql.ts'
import { type TenantRoom, tenantRoom } from './tenant-room.ts'

/** A request that is to wait. */
export interface Queued {
  command: CommandBody<'deployment.start'>
  request_id: string | null
  traceparent: string | null
}

/** Puts requests into the queue, under the ids of their commands. */
export async function enqueueRequests(tx: Queryable, requests: readonly Queued[]): Promise<void> {
  if (requests.length === 0) return
  const plans = requests.map(({ command }) => command.plan)
  await addRequests.run(tx, {
    ids: requests.map(({ command }) => command.command_id),
    priorities: plans.map(({ options }) => options.priority),
    commands: requests.map(({ command }) => command),
    tenant_ids: plans.map(({ tenant }) => tenant?.id ?? null),
    tenant_names: plans.map(({ tenant }) => tenant?.name ?? null),
    environment_ids: plans.map(({ environment }) => environment?.id ?? null),
    environment_names: plans.map(({ environment }) => environment?.name ?? null),
    triggered_by: requests.map(({ command }) => command.caller.username),
    request_ids: requests.map(({ request_id }) => request_id),
    traceparents: requests.map(({ traceparent }) => traceparent),
  })
  await enqueue(
    tx,
    requests.map(({ command, request_id, traceparent }) => ({
      ...eventMessage('pending.created', {
        pending_request_id: command.command_id,
        tenant_id: command.plan.tenant?.id ?? null,
        status: 'pending',
      }),
      request_id,
      traceparent,
    })),
  )
}

/** What may hold a request back though a slot is free. */
export interface QueueLimits {
  freezes: FreezesInForce
  /** Null when tenants have no limit. */
  room: TenantRoom | null
}

export async function holdsNow(tx: Queryable): Promise<QueueLimits> {
  const [freezes, room] = await Promise.all([freezesInForce(tx), tenantRoom(tx)])
  return { freezes, room }
}

/** A request whose turn it is. */
export type NextRequest = RowOf<typeof findNext>

interface Wanted {
  limit: number
  maxRank?: number | null
  tenantId?: string | null
}

/**
 * The requests whose turn it is, in order of rank: priority, then age. Those that a freeze or their tenant's limit holds
 * are passed over, and so is for a moment one whose dispatch has just failed. Takes their places of `holds.room`. With
 * `tenantId` only the requests of that tenant.
 */
export async function nextWaiting(
  tx: Queryable,
  { freezes, room }: QueueLimits,
  wanted: Wanted,
): Promise<NextRequest[]> {
  const { tenantId = null, limit, maxRank } = wanted
  const max_rank = maxRank ?? MAX_RANK
  if (freezes.none && room === null && tenantId === null) return findNext.all(tx, { max_rank, limit })
  const subjects = (await findSubjects.all(tx)).filter(
    ({ subject }) =>
      (tenantId === null || subject.tenant_id === tenantId) && (freezes.none || !freezes.judge(subject).blocked),
  )
  const next = await findNextOfEach.all(tx, {
    max_rank,
    keys: subjects.map(({ key }) => key),
    limits: subjects.map(({ subject }) => Math.min(limit, room?.left(subject.tenant_id) ?? limit)),
  })
  const found: NextRequest[] = []
  for (const request of next) {
    if (found.length === limit) break
    if (room === null || room.take(request.tenant_id)) found.push(request)
  }
  return found
}

/**
 * Renews what freezes judge these requests by, where a target went to another tenant or environment since they were queued.
 * Gives the ids of those that changed: they are to be judged again.
 */
export async function renewSubjects(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  return (await renewSubjectsOf.all(tx, { ids })).map(({ id }) => id)
}

/** Beyond every rank there is. */
const MAX_RANK = Number.MAX_SAFE_INTEGER
