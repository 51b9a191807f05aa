import { type Database, findInstances, type Queryable } from '@slipway/database'
import { matchesLabels, poolName } from '@slipway/domain'
import { COMPATIBLE_VERSION, measure } from '@slipway/runtime'
import { countPending } from './queue.sql.ts'

/** The most pools with values of their own, those with the most requests. The others share one. */
const MAX_POOLS = 50
const OTHERS = 'others'
/** The pool of requests without a selector, which has values even if it is empty. */
const ANY = poolName(null)

interface PoolMeasurement {
  slipway_pending_requests: Record<string, number>
  slipway_pending_oldest_age_seconds: Record<string, number>
  slipway_pool_slots_taken: Record<string, number>
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
    },
    () => measurePools(database),
  )
}

export async function measurePools(db: Queryable): Promise<PoolMeasurement> {
  const pools = await countPending.all(db)
  const instances = pools.some(({ selector }) => selector !== null)
    ? await findInstances.all(db, { version: COMPATIBLE_VERSION, wanted: 0, most: 0, exact: true })
    : []
  const requests = new Map([[ANY, 0]])
  const ages = new Map([[ANY, 0]])
  const taken = new Map<string, number>()
  for (const [index, { selector, pending, age }] of pools.entries()) {
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
  }
}
