import type { Queryable } from '@slipway/database'
import type { ActiveFreeze } from '@slipway/domain'
import type { FreezesInForce } from '../freezes/held.ts'
import type { Slot } from '../leases/allocate.ts'
import { type Holds, nextWaiting } from '../pending/queue.ts'
import { lockTenants, type TenantRoom, tenantRoom } from '../pending/tenant-room.ts'
import type { Arrived, Look } from './arrived.ts'

export const tenantOf = ({ command }: Arrived) => command.plan.tenant?.id ?? null

/** A command that nothing forbids. */
export interface Passed extends Arrived {
  /** Its place among those that came with it. */
  index: number
  waiting: Look['waiting']
  /** The freezes that its caller overrides. */
  overridden: ActiveFreeze[]
}

/** With the slot in which it starts; without one it is queued. */
export type Decided = Passed & { slot: Slot | undefined }

export interface Free {
  /** Of instances that serve all tenants. */
  slots: readonly Slot[]
  /** Of the instances that serve one tenant only, by tenant. */
  ownSlots: ReadonlyMap<string, readonly Slot[]>
}

/** Gives slots to those before whom nobody waits and whose tenants may run one more. A tenant's own instances come first. */
export async function assign(
  tx: Queryable,
  passed: readonly Passed[],
  { freezes, room, slots, ownSlots }: { freezes: FreezesInForce; room: TenantRoom | null } & Free,
): Promise<Decided[]> {
  if (slots.length === 0 && ownSlots.size === 0) return passed.map((each) => ({ ...each, slot: undefined }))
  const first = await firstWaiting(tx, passed, { freezes, room })
  const counted = room === null ? null : await roomNow(tx, passed)
  const shared = [...slots]
  const own = new Map([...ownSlots].map(([tenant, its]) => [tenant, [...its]]))
  return passed.map((each) => {
    const tenant = tenantOf(each)
    const free = [own.get(tenant ?? '') ?? [], shared].find((some) => some.length > 0)
    const isBehind = first !== null && each.waiting !== null && first <= each.waiting
    const mayStart = free !== undefined && !isBehind && (counted?.take(tenant) ?? true)
    return { ...each, slot: mayStart ? free.shift() : undefined }
  })
}

/** The rank of the first request in the queue that nothing holds back, if it comes before any of these. */
async function firstWaiting(tx: Queryable, passed: readonly Passed[], holds: Holds): Promise<number | null> {
  const ranks = passed.flatMap(({ waiting }) => waiting ?? [])
  if (ranks.length === 0) return null
  const [first] = await nextWaiting(tx, holds, { limit: 1, maxRank: Math.max(...ranks) })
  return first?.rank ?? null
}

/** What their tenants may run, counted again now that nobody else can start anything for them. */
async function roomNow(tx: Queryable, passed: readonly Passed[]): Promise<TenantRoom | null> {
  const [, room] = await Promise.all([lockTenants(tx, passed.map(tenantOf)), tenantRoom(tx)])
  return room
}
