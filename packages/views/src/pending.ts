import type { Queryable, RowOf } from '@slipway/database'
import { LOST_AFTER, readFreezes } from '@slipway/database'
import { type FreezeSubject, judgeFreezes } from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { readObstacles } from './obstacles.ts'
import type { Capacity } from './outlook.sql.ts'
import { type Outlook, readOutlook } from './outlook.ts'
import type { findRequests, PendingItem } from './pending.sql.ts'
import { type IdleInstances, type PoolOutlook, type ReadPool, readPools } from './pools.ts'

type PendingRow = RowOf<typeof findRequests>

interface WaitingReason {
  waiting_for: 'freeze' | 'instance_pool' | 'no_compatible_instance' | 'tenant_limit' | 'capacity'
  waiting_reason: string
  /** Seconds from now. */
  starts_in?: number
}

export async function pendingItems(db: Queryable, reading: Promise<PendingRow[]>): Promise<PendingItem[]> {
  const [rows, heldByFreezes, outlook] = await Promise.all([reading, readFreezeHold(db), readOutlook(db)])
  const locking = rows.filter(({ position, wants_targets }) => position !== null && wants_targets)
  const obstacles = await readObstacles(
    db,
    locking.map(({ request }) => request.id),
    (subject) => (heldByFreezes?.(subject) ?? null) !== null,
  )
  const isPooled = rows.some(({ selector, position }) => selector !== null && position !== null)
  const readPool = isPooled ? await readPools(db) : null
  return rows.map((row) => {
    const { request, subject, pool_position: position } = row
    if (position === null) return request
    const pool = poolOf(row, readPool)
    const { starts_in, ...waiting } =
      (subject && heldByFreezes?.(subject)) ??
      heldByLimits(row, pool, outlook) ??
      obstacles.get(request.id) ??
      waitsForCapacity(row, { position, pool }, outlook)
    const estimate = starts_in === undefined ? {} : { estimated_start: plainTime(outlook.now, starts_in) }
    return { ...request, ...waiting, ...(pool && { instance_pool: { ...pool.pool, position } }), ...estimate }
  })
}

const poolOf = ({ selector, tenant_id }: PendingRow, readPool: ReadPool | null): PoolOutlook | null =>
  selector === null || readPool === null ? null : readPool(selector, tenant_id)

/** Finds the requests that freezes hold, by the rule of the dispatcher. Null if no freeze is active. */
async function readFreezeHold(db: Queryable): Promise<((subject: FreezeSubject) => WaitingReason | null) | null> {
  const { freezes, now } = await readFreezes(db)
  const inForce = freezes.presentAt(now)
  if (inForce.length === 0) return null
  return (subject) => {
    const { blocked, active_freezes } = judgeFreezes(inForce, subject)
    if (!blocked) return null
    const reasons = active_freezes.map(({ name, ends_at }) => `freeze "${name}" until ${ends_at}`)
    return { waiting_for: 'freeze', waiting_reason: `Held back by ${reasons.join(' and ')}` }
  }
}

/** Null if the request needs only a free slot. */
function heldByLimits(
  { tenant_id, tenant_name }: PendingRow,
  pool: PoolOutlook | null,
  outlook: Outlook,
): WaitingReason | null {
  if (pool?.pool.slots === 0) return { waiting_for: 'instance_pool', waiting_reason: withoutMatch(pool) }
  if (pool === null && capacityFor(tenant_id, outlook).slots === 0)
    return { waiting_for: 'no_compatible_instance', waiting_reason: withoutInstance(tenant_id, outlook) }
  const { tenant_limit } = outlook
  const running = outlook.running[tenant_id ?? ''] ?? 0
  if (tenant_limit === null || tenant_id === null || running < tenant_limit) return null
  const tenant = tenant_name === null ? 'Its tenant' : `Tenant "${tenant_name}"`
  return {
    waiting_for: 'tenant_limit',
    waiting_reason: `${tenant} runs ${pluralize(running, 'deployment')}, as many as a tenant may at once (${tenant_limit})`,
  }
}

function withoutMatch({ pool, idle }: PoolOutlook): string {
  const { name, known, matching } = pool
  if (matching === 0) {
    return `No orchestration instance matches ${name} (${pluralize(known, 'instance')} known): start one with these labels`
  }
  const reasons = idleReasons(idle)
  const why = reasons.length > 0 ? reasons.join(', ') : 'none has a slot'
  return `No orchestration instance that matches ${name} can take it: of ${pluralize(matching, 'instance')} ${why}`
}

function idleReasons({ lost, draining, refusing, foreign }: IdleInstances): string[] {
  return [
    lost > 0 ? `${lost} sent no heartbeat for ${LOST_AFTER}` : '',
    draining > 0 ? `${draining} draining` : '',
    refusing > 0 ? `${refusing} without room for new runs` : '',
    foreign > 0 ? `${foreign} of another version than ${COMPATIBLE_VERSION}` : '',
  ].filter((reason) => reason !== '')
}

function withoutInstance(tenantId: string | null, outlook: Outlook): string {
  const { enrolled, own } = outlook
  if (enrolled === 0) {
    return `No orchestration instance has joined: start one of version ${COMPATIBLE_VERSION} with a join token`
  }
  const others = Object.entries(own).reduce((sum, [id, { instances }]) => (id === tenantId ? sum : sum + instances), 0)
  const reasons = [...idleReasons(outlook), ...(others > 0 ? [`${others} for other tenants only`] : [])]
  const why = reasons.length > 0 ? reasons.join(', ') : 'none has a slot'
  return `No orchestration instance can take it: of ${pluralize(enrolled, 'instance')} ${why}`
}

/** The capacity for deployments of this tenant. */
function capacityFor(tenantId: string | null, { shared, own }: Outlook): Capacity {
  const its = own[tenantId ?? '']
  if (its === undefined) return shared
  return {
    instances: shared.instances + its.instances,
    slots: shared.slots + its.slots,
    taken: shared.taken + its.taken,
  }
}

function waitsForCapacity(
  { retry_at, tenant_id }: PendingRow,
  { position, pool }: { position: number; pool: PoolOutlook | null },
  outlook: Outlook,
): WaitingReason {
  const { now, run_seconds } = outlook
  const { slots, taken, instances } = pool
    ? { ...pool.pool, instances: pool.pool.accepting }
    : capacityFor(tenant_id, outlook)
  if (retry_at !== null) {
    const starts_in = Math.max(0, (retry_at.getTime() - now.getTime()) / 1_000)
    return { waiting_for: 'capacity', waiting_reason: 'Its dispatch failed and is about to be tried again', starts_in }
  }
  const before = position === 1 ? 'it is next' : `${pluralize(position - 1, 'request')} before it`
  const matching = pool === null ? '' : ` that match${instances === 1 ? 'es' : ''} ${pool.pool.name}`
  const all = `${pluralize(slots, 'slot')} of ${pluralize(instances, 'orchestration instance')}${matching}`
  const free = slots - taken
  // The dispatcher fills free slots within moments.
  if (position <= free) {
    return { waiting_for: 'capacity', waiting_reason: `About to start: ${free} of ${all} free`, starts_in: 0 }
  }
  const starts_in = run_seconds === null ? undefined : ((position - free) * run_seconds) / slots
  return {
    waiting_for: 'capacity',
    waiting_reason: `${free === 0 ? 'All' : `${taken} of`} ${all} are taken; ${before}`,
    ...(starts_in === undefined || starts_in > LONGEST_ESTIMATE_SECONDS ? {} : { starts_in }),
  }
}

/** Longer estimates are too uncertain to show. */
const LONGEST_ESTIMATE_SECONDS = 30 * 24 * 3_600

const pluralize = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`

/** In the format of the other times of an item. */
const plainTime = (now: Date, seconds: number) =>
  new Date(now.getTime() + seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')
