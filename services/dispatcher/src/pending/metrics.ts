import { type Database, type Queryable, readGroups, type WaitingGroup } from '@slipway/database'
import { matchesLabels, poolName } from '@slipway/domain'
import { measure } from '@slipway/runtime'

/** The most pools with values of their own, those with the most requests. The others share one. */
const MAX_POOLS = 50
const OTHERS = 'others'
/** The pool of requests without a selector, which has values even if it is empty. */
const ANY = poolName(null)

interface QueueMeasurement {
  slipway_pending_requests: Record<string, number>
  slipway_pending_oldest_age_seconds: Record<string, number>
  slipway_pool_slots_taken: Record<string, number>
  slipway_pending_requests_held: Record<string, number>
  slipway_pending_open_oldest_age_seconds: number
}

export function measureQueue(database: Database): void {
  measure(
    'pending_requests',
    {
      slipway_pending_requests: { help: 'Requests that wait in the queue, by pool', label: 'pool' },
      slipway_pending_oldest_age_seconds: {
        help: 'How long the longest waiting request of a pool has waited; 0 when none does',
        label: 'pool',
      },
      slipway_pool_slots_taken: {
        help: 'Slots taken on the instances that match a pool, of the pools with pending requests',
        label: 'pool',
      },
      slipway_pending_requests_held: {
        help: 'Requests that wait for a start time, approvals, a window, a promotion, the end of a freeze, instances or the limit of a tenant, by the first of these',
        label: 'waiting_for',
      },
      slipway_pending_open_oldest_age_seconds: {
        help: 'How long the longest waiting request that needs only targets and a slot has waited; 0 when none does',
      },
    },
    () => measurePending(database),
  )
}

export async function measurePending(db: Queryable): Promise<QueueMeasurement> {
  const { instances, groups, parked } = await readGroups(db)
  const held = new Map<string, number>(parked.map(({ parked_for, pending }) => [parked_for, pending]))
  let openAge = 0
  for (const { blockers, pending, age } of groups) {
    const [first] = blockers
    if (first === undefined) openAge = Math.max(openAge, age)
    else held.set(first.code, (held.get(first.code) ?? 0) + pending)
  }
  const requests = new Map([[ANY, 0]])
  const ages = new Map([[ANY, 0]])
  const taken = new Map<string, number>()
  for (const [index, { selector, pending, age }] of poolsOf(groups).entries()) {
    const name = index < MAX_POOLS || selector === null ? poolName(selector) : OTHERS
    requests.set(name, (requests.get(name) ?? 0) + pending)
    ages.set(name, Math.max(ages.get(name) ?? 0, age))
    if (selector === null || name === OTHERS) continue
    const matching = instances.filter(({ idle, labels }) => idle === null && matchesLabels(selector, labels))
    taken.set(
      name,
      matching.reduce((total, instance) => total + instance.taken, 0),
    )
  }
  return {
    slipway_pending_requests: Object.fromEntries(requests),
    slipway_pending_oldest_age_seconds: Object.fromEntries(ages),
    slipway_pool_slots_taken: Object.fromEntries(taken),
    slipway_pending_requests_held: Object.fromEntries(held),
    slipway_pending_open_oldest_age_seconds: openAge,
  }
}

type Pool = Pick<WaitingGroup, 'selector' | 'pending' | 'age'>

/** The groups of each selector together, those with the most requests first. */
function poolsOf(groups: readonly WaitingGroup[]): Pool[] {
  const pools = new Map<string, Pool>()
  for (const { selector, pending, age } of groups) {
    const key = JSON.stringify(selector)
    const pool = pools.get(key) ?? { selector, pending: 0, age: 0 }
    pools.set(key, { selector, pending: pool.pending + pending, age: Math.max(pool.age, age) })
  }
  return [...pools.values()].sort((one, other) => other.pending - one.pending)
}
