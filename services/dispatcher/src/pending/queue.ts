import { type CommandBody, PENDING_TARGETS } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import { type MaybeSelector, matchesLabels } from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { type FreezesInForce, freezesInForce } from '../freezes/held.ts'
import { findInstances } from '../leases/leases.sql.ts'
import { findStartable } from '../locks/locks.sql.ts'
import type { Reserving } from '../locks/locks.ts'
import { storeWanted } from '../locks/wanted.ts'
import { addRequests, findNext, findNextOfEach, findSubjects, isAnyPooled, renewSubjectsOf } from './queue.sql.ts'
import { type TenantRoom, tenantRoom } from './tenant-room.ts'

/** A request to queue. */
interface NewRequest {
  command: CommandBody<'deployment.start'>
  request_id: string | null
  traceparent: string | null
  /** The ids of the targets that it locks. */
  locks: readonly string[]
  /** Since when it waits; null: since now. */
  queued_at: string | null
}

/** Adds requests to the queue. The id of a request is the id of its command. */
export async function enqueueRequests(tx: Queryable, requests: readonly NewRequest[]): Promise<void> {
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
    source_types: plans.map(({ source }) => source.type),
    source_ids: plans.map(({ source }) => source.id),
    source_names: plans.map(({ source }) => source.name),
    source_versions: plans.map(({ source }) => source.version),
    target_counts: plans.map(({ targets }) => targets.length),
    first_targets: plans.map(({ targets }) => targets.slice(0, PENDING_TARGETS).map(({ id, name }) => ({ id, name }))),
    triggered_by: requests.map(({ command }) => command.caller.username),
    request_ids: requests.map(({ request_id }) => request_id),
    traceparents: requests.map(({ traceparent }) => traceparent),
    queued_at: requests.map(({ queued_at }) => queued_at),
  })
  await storeWanted(
    tx,
    requests.flatMap(({ command, locks }) => (locks.length === 0 ? [] : [{ id: command.command_id, targets: locks }])),
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

/** The reasons to hold a request back although a slot is free. */
export interface QueueLimits {
  freezes: FreezesInForce
  /** Null if tenants have no limit. */
  room: TenantRoom | null
  /** Whether any pending request requires labels of its instance. */
  pooled: boolean
}

export async function holdsNow(tx: Queryable): Promise<QueueLimits> {
  const [freezes, room, pooled] = await Promise.all([freezesInForce(tx), tenantRoom(tx), isAnyPooled.one(tx)])
  return { freezes, room, pooled: pooled.any }
}

/** A request that may be dispatched next. */
export type NextRequest = RowOf<typeof findNext>

interface NextRequestsQuery {
  limit: number
  maxRank?: number | null
  tenantId?: string | null
  /** How many requests with this selector are wanted at most. */
  limitOf?: ((selector: MaybeSelector) => number) | null
}

/**
 * The next requests to dispatch, in order of rank: priority, then age. Skips requests that a freeze or the limit of their
 * tenant holds, and for a moment requests after a failed dispatch. Takes their places from `holds.room`. With `tenantId`, only
 * requests of that tenant.
 */
export async function findNextRequests(
  tx: Queryable,
  limits: QueueLimits,
  wanted: NextRequestsQuery,
): Promise<NextRequest[]> {
  const { freezes, room, pooled } = limits
  const { tenantId = null, limit, maxRank, limitOf = null } = wanted
  const max_rank = maxRank ?? MAX_RANK
  const startable = (reserving: Reserving, keys: string[] | null) =>
    findStartable.all(tx, { ...reserving, max_rank, tenant_id: tenantId, limit, keys })
  if (freezes.none && room === null && !pooled && tenantId === null) {
    const [free, locking] = await Promise.all([findNext.all(tx, { max_rank, limit }), startable(ALL_RESERVE, null)])
    return byRank([...free, ...locking]).slice(0, limit)
  }
  const unfrozen = await unfrozenSubjects(tx, freezes)
  const reserving = await reservingOf(tx, unfrozen, limits)
  const subjects = unfrozen
    .filter(({ subject }) => tenantId === null || subject.tenant_id === tenantId)
    .map(({ key, subject, selector }) => {
      return { key, most: Math.min(limit, room?.left(subject.tenant_id) ?? limit, limitOf?.(selector) ?? limit) }
    })
  const [free, locking] = await Promise.all([
    findNextOfEach.all(tx, {
      max_rank,
      keys: subjects.map(({ key }) => key),
      limits: subjects.map(({ most }) => most),
    }),
    startable(
      reserving,
      subjects.flatMap(({ key, most }) => (most > 0 ? [key] : [])),
    ),
  ])
  const found: NextRequest[] = []
  for (const request of byRank([...free, ...locking])) {
    if (found.length === limit) break
    if (room === null || room.take(request.tenant_id)) found.push(request)
  }
  return found
}

/** The most requests with locks among which the first of each pool is searched. */
const MOST_POOLS = 500

/** A selector with the rank of the first request that has it and may be dispatched. */
export interface FirstOfPool {
  selector: MaybeSelector
  rank: number
}

/** The first request of each pool that no freeze and no limit of its tenant holds. */
export async function findFirstOfPools(tx: Queryable, limits: QueueLimits, maxRank: number): Promise<FirstOfPool[]> {
  const subjects = await unfrozenSubjects(tx, limits.freezes)
  const reserving = await reservingOf(tx, subjects, limits)
  const keys = subjects.map(({ key }) => key)
  const most = subjects.map(({ subject }) => Math.min(1, limits.room?.left(subject.tenant_id) ?? 1))
  const [free, locking] = await Promise.all([
    findNextOfEach.all(tx, { max_rank: maxRank, keys, limits: most }),
    findStartable.all(tx, { ...reserving, max_rank: maxRank, tenant_id: null, limit: MOST_POOLS, keys }),
  ])
  const firsts = new Map<string, FirstOfPool>()
  for (const { selector, rank } of byRank([...free, ...locking])) {
    const key = JSON.stringify(selector)
    if (!firsts.has(key)) firsts.set(key, { selector, rank })
  }
  return [...firsts.values()]
}

type Subject = RowOf<typeof findSubjects>

/** The freeze subjects that no freeze holds. */
const unfrozenSubjects = async (tx: Queryable, freezes: FreezesInForce): Promise<Subject[]> =>
  (await findSubjects.all(tx)).filter(({ subject }) => freezes.none || !freezes.judge(subject).blocked)

const byRank = (requests: NextRequest[]) =>
  requests.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))

const ALL_RESERVE: Reserving = { freeze_keys: null, full_tenants: [] }

/**
 * The pending requests that reserve their targets. A request does not reserve while a freeze or the limit of its tenant holds it, or
 * while no instance matches it.
 */
export async function findReserving(tx: Queryable, limits: QueueLimits): Promise<Reserving> {
  const { freezes, room, pooled } = limits
  if (freezes.none && !pooled) return { ...ALL_RESERVE, full_tenants: room?.full() ?? [] }
  return reservingOf(tx, await unfrozenSubjects(tx, freezes), limits)
}

async function reservingOf(
  tx: Queryable,
  unfrozen: readonly Subject[],
  { room, pooled }: QueueLimits,
): Promise<Reserving> {
  const instances = pooled ? await findInstances.all(tx, { version: COMPATIBLE_VERSION }) : []
  const isServed = (selector: MaybeSelector, tenantId: string | null) =>
    instances.some(
      ({ tenant_id, labels }) => (tenant_id === null || tenant_id === tenantId) && matchesLabels(selector, labels),
    )
  const freeze_keys = unfrozen.flatMap(({ key, subject, selector }) =>
    selector === null || isServed(selector, subject.tenant_id) ? [key] : [],
  )
  return { freeze_keys, full_tenants: room?.full() ?? [] }
}

/**
 * Recomputes the freeze subjects of requests whose targets have moved to another tenant or environment. Returns the ids of the
 * changed requests: they must be judged again.
 */
export async function renewSubjects(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  return (await renewSubjectsOf.all(tx, { ids })).map(({ id }) => id)
}

/** Higher than every rank. */
const MAX_RANK = Number.MAX_SAFE_INTEGER
