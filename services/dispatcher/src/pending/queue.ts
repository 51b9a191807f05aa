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
export interface NextRequest {
  id: string
  rank: number
  tenant_id: string | null
  /** Bytes of its command. */
  size: number
}

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
  const { tenantId = null } = wanted
  if (freezes.none && room === null && tenantId === null) return firstOfAll(tx, wanted)
  const mayStart = ({ subject }: WaitingSubject) =>
    (tenantId === null || subject.tenant_id === tenantId) && (freezes.none || !freezes.judge(subject).blocked)
  const subjects = (await waitingSubjects(tx)).filter(mayStart).map(({ key, subject }) => {
    return { key, limit: Math.min(wanted.limit, room?.left(subject.tenant_id) ?? wanted.limit) }
  })
  const found: NextRequest[] = []
  for (const request of await firstOfEach(tx, subjects, wanted.maxRank)) {
    if (found.length === wanted.limit) break
    if (room === null || room.take(request.tenant_id)) found.push(request)
  }
  return found
}

interface WaitingSubject {
  key: string
  subject: FreezeSubject
}

/** The subjects of all requests that wait, each once. Jumps from subject to subject, however many requests there are. */
async function waitingSubjects(tx: Queryable): Promise<WaitingSubject[]> {
  const after = (bound: string) =>
    `(SELECT freeze_key, freeze_subject FROM pending_requests
       WHERE status = 'pending' ${bound} ORDER BY freeze_key LIMIT 1)`
  const { rows } = await tx.query<WaitingSubject>(
    `WITH RECURSIVE subjects (key, subject) AS (
       ${after('')}
       UNION ALL
       SELECT next.* FROM subjects CROSS JOIN LATERAL ${after('AND freeze_key > subjects.key')} next
     )
     SELECT key, subject FROM subjects`,
    [],
  )
  return rows
}

const FIELDS = 'p.id, p.rank, p.tenant_id, pg_column_size(p.command) AS size'
const IS_NEXT = `p.status = 'pending' AND p.rank <= $1
  AND (p.last_retry_at IS NULL OR p.last_retry_at < now() - make_interval(secs => p.retry_count))`

async function firstOfAll(tx: Queryable, { limit, maxRank = null }: Wanted): Promise<NextRequest[]> {
  const { rows } = await tx.query<NextRequest>(
    `SELECT ${FIELDS} FROM pending_requests p WHERE ${IS_NEXT} ORDER BY p.rank, p.id LIMIT $2`,
    [maxRank ?? MAX_RANK, limit],
  )
  return rows
}

/** The first requests of each of these subjects, as many as its limit says, all in one order. */
async function firstOfEach(
  tx: Queryable,
  subjects: readonly { key: string; limit: number }[],
  maxRank: number | null = null,
): Promise<NextRequest[]> {
  const { rows } = await tx.query<NextRequest>(
    `SELECT first.* FROM unnest($2::uuid[], $3::int[]) AS wanted (key, most)
      CROSS JOIN LATERAL (
        SELECT ${FIELDS} FROM pending_requests p
         WHERE p.freeze_key = wanted.key AND ${IS_NEXT} ORDER BY p.rank, p.id LIMIT wanted.most
      ) first
      ORDER BY first.rank, first.id`,
    [maxRank ?? MAX_RANK, subjects.map(({ key }) => key), subjects.map(({ limit }) => limit)],
  )
  return rows
}

/**
 * Renews what freezes judge these requests by, where a target went to another tenant or environment since they were queued.
 * Gives the ids of those that changed: they are to be judged again.
 */
export async function renewSubjects(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `UPDATE pending_requests p SET freeze_subject = now.subject
       FROM (SELECT id, freeze_subject_of(tenant_id, environment_id, command) AS subject
               FROM pending_requests WHERE id = ANY($1::uuid[])) now
      WHERE p.id = now.id AND p.freeze_subject IS DISTINCT FROM now.subject
     RETURNING p.id`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Beyond every rank there is. */
const MAX_RANK = Number.MAX_SAFE_INTEGER
