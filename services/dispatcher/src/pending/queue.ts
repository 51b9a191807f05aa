import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import type { FreezeSubject } from '@slipway/domain'
import { type FreezesInForce, freezesInForce } from '../freezes/held.ts'
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
  await tx.query(
    `INSERT INTO pending_requests (id, priority, tenant_id, tenant_name, environment_id, environment_name, triggered_by,
                                   command, request_id, traceparent)
     -- The commands not as jsonb[]: whoever sends or reads that goes through each of them twice.
     SELECT id, priority, tenant_id, tenant_name, environment_id, environment_name, triggered_by,
            $8::jsonb -> (place::int - 1), request_id, traceparent
       FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $9::text[], $10::text[])
            WITH ORDINALITY AS r (id, priority, tenant_id, tenant_name, environment_id, environment_name, triggered_by,
                                  request_id, traceparent, place)`,
    [
      requests.map(({ command }) => command.command_id),
      plans.map(({ options }) => options.priority),
      plans.map(({ tenant }) => tenant?.id ?? null),
      plans.map(({ tenant }) => tenant?.name ?? null),
      plans.map(({ environment }) => environment?.id ?? null),
      plans.map(({ environment }) => environment?.name ?? null),
      requests.map(({ command }) => command.caller.username),
      JSON.stringify(requests.map(({ command }) => command)),
      requests.map(({ request_id }) => request_id),
      requests.map(({ traceparent }) => traceparent),
    ],
  )
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

/** SQL: what would be the rank of a request of this priority that comes now; null when nothing waits that comes first. */
export const rankBehind = (priority: string) =>
  `(SELECT now.rank FROM (SELECT queue_rank(${priority}, now()) AS rank OFFSET 0) now
     WHERE EXISTS (SELECT FROM pending_requests p WHERE p.status = 'pending' AND p.rank <= now.rank))`

/** What may hold a request back though a slot is free. */
export interface Holds {
  freezes: FreezesInForce
  /** Null when tenants have no limit. */
  room: TenantRoom | null
}

export async function holdsNow(tx: Queryable): Promise<Holds> {
  const [freezes, room] = await Promise.all([freezesInForce(tx), tenantRoom(tx)])
  return { freezes, room }
}

interface Waiting extends FreezeSubject {
  id: string
  rank: number
  tenant_id: string | null
  size: number
}

/** Requests that are looked at in one go where something may hold them back. */
const PAGE = 200

/** A request whose turn it is. */
export type Next = Pick<Waiting, 'id' | 'rank' | 'tenant_id' | 'size'>

/**
 * The requests whose turn it is, in order of rank: priority, then age. Those that a freeze or their tenant's limit holds
 * are passed over, and so is for a moment one whose dispatch has just failed. Takes their places of `holds.room`. With
 * `tenantId` only the requests of that tenant.
 */
export async function nextWaiting(
  tx: Queryable,
  { freezes, room }: Holds,
  { limit, maxRank = null, tenantId = null }: { limit: number; maxRank?: number | null; tenantId?: string | null },
): Promise<Next[]> {
  const found: Next[] = []
  const size = freezes.none && room === null ? limit : Math.max(limit, PAGE)
  let last: Waiting | undefined
  do {
    // With nothing to hold any back the first page is the answer, and the commands need not be read.
    const page = await readPage(tx, { freezes, full: room?.full ?? [], tenantId, maxRank, last, size })
    for (const request of page) {
      if (!freezes.none && freezes.judge(request).blocked) continue
      if (room !== null && !room.take(request.tenant_id)) continue
      found.push(request)
      if (found.length === limit) return found
    }
    last = page.length === size ? page.at(-1) : undefined
  } while (last)
  return found
}

async function readPage(
  tx: Queryable,
  page: {
    freezes: FreezesInForce
    full: string[]
    tenantId: string | null
    maxRank: number | null
    last: Waiting | undefined
    size: number
  },
): Promise<Waiting[]> {
  const subject = page.freezes.none
    ? ''
    : `, environment_id, command -> 'caller' AS caller, command -> 'freeze_override' <> 'null' AS override,
       CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #>> '{plan,source,id}' END AS solution_id`
  const { rows } = await tx.query<Waiting>(
    `SELECT id, rank, tenant_id, pg_column_size(command) AS size ${subject}
       FROM pending_requests
      WHERE status = 'pending'
        AND rank <= $1 AND (rank, id) > ($2, $3::uuid)
        AND (tenant_id IS NULL OR tenant_id <> ALL($4::uuid[]))
        AND ($6::uuid IS NULL OR tenant_id = $6)
        AND (last_retry_at IS NULL OR last_retry_at < now() - make_interval(secs => retry_count))
      ORDER BY rank, id
      LIMIT $5`,
    [page.maxRank ?? MAX_RANK, page.last?.rank ?? -MAX_RANK, page.last?.id ?? NIL, page.full, page.size, page.tenantId],
  )
  return rows
}

/** Beyond every rank there is. */
const MAX_RANK = Number.MAX_SAFE_INTEGER
const NIL = '00000000-0000-0000-0000-000000000000'
