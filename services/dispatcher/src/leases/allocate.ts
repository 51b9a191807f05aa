import type { Queryable, RowOf } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { addLeases, findTaken, findTenantsWithInstances, lockManySlots, lockSlots } from './leases.sql.ts'

export type Slot = RowOf<typeof lockSlots>

interface Lease extends Slot {
  deployment_id: string
  epoch: number
}

/** For more slots than this, all leases are read at once. A search slot by slot would check every slot of a full instance. */
const FEW = 32
const MAX_ROUNDS = 10

/**
 * Locks up to `count` free slots of live, compatible instances until the transaction ends, the least loaded instance first.
 * Skips slots that other transactions have locked. Uses the instances of the tenant; without a tenant, those that serve all.
 * With a list of instances, only these.
 */
export function lockFreeSlots(
  tx: Queryable,
  count: number,
  tenantId: string | null = null,
  instanceIds: readonly string[] | null = null,
): Promise<Slot[]> {
  const wanted = {
    ...{ count, version: COMPATIBLE_VERSION, tenant_id: tenantId },
    ...{ any: instanceIds === null, instance_ids: instanceIds ?? [] },
  }
  return count > FEW ? lockMany(tx, wanted) : lockSlots.all(tx, wanted)
}

/** The tenants with live, compatible instances of their own. Usually there are none. */
export async function tenantsWithInstances(tx: Queryable): Promise<string[]> {
  const rows = await findTenantsWithInstances.all(tx, { version: COMPATIBLE_VERSION })
  return rows.map(({ tenant_id }) => tenant_id)
}

async function lockMany(tx: Queryable, wanted: Parameters<typeof lockManySlots.all>[1]): Promise<Slot[]> {
  for (let round = 1; ; round += 1) {
    const locked = await lockManySlots.all(tx, wanted)
    if (locked.length === 0) return []
    // Between the search and the lock, a slot may have been leased or its instance set to drain. Check again under the lock.
    const free = await stillFree(tx, locked)
    if (free.length > 0 || round === MAX_ROUNDS) return free
  }
}

async function stillFree(tx: Queryable, slots: Slot[]): Promise<Slot[]> {
  const numbers = slots.map(({ slot }) => slot)
  const rows = await findTaken.all(tx, {
    instance_ids: [...new Set(slots.map(({ instance_id }) => instance_id))],
    first: Math.min(...numbers),
    last: Math.max(...numbers),
  })
  const draining = new Set(rows.flatMap(({ instance_id, slot }) => (slot === null ? [instance_id] : [])))
  const placeOf = ({ instance_id, slot }: { instance_id: string; slot: number | null }) => `${instance_id} ${slot}`
  const taken = new Set(rows.map(placeOf))
  return slots.filter((slot) => !draining.has(slot.instance_id) && !taken.has(placeOf(slot)))
}

/** Adds a lease for each deployment on a locked slot. The epoch of each lease is higher than all earlier ones. */
export async function insertLeases(
  tx: Queryable,
  wanted: readonly { slot: Slot; deployment_id: string }[],
): Promise<Lease[]> {
  const rows = await addLeases.all(tx, {
    instance_ids: wanted.map(({ slot }) => slot.instance_id),
    slots: wanted.map(({ slot }) => slot.slot),
    deployment_ids: wanted.map(({ deployment_id }) => deployment_id),
  })
  const epochs = new Map(rows.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  return wanted.map(({ slot, deployment_id }) => {
    const epoch = epochs.get(deployment_id)
    if (epoch === undefined) throw new Error(`No lease was inserted for deployment ${deployment_id}`)
    return { ...slot, deployment_id, epoch }
  })
}
