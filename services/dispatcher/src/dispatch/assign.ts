import type { Queryable } from '@slipway/database'
import type { ActiveFreeze } from '@slipway/domain'
import type { FreezesInForce } from '../freezes/held.ts'
import type { Slot } from '../leases/allocate.ts'
import { findNextRequests, type QueueLimits } from '../pending/queue.ts'
import { lockTenants, type TenantRoom, tenantRoom } from '../pending/tenant-room.ts'
import type { CommandStatus, StartCommand } from './start-commands.ts'

export const tenantOf = ({ command }: StartCommand) => command.plan.tenant?.id ?? null

/** A command that no freeze, deadline or earlier copy forbids. */
export interface AuthorizedStart extends StartCommand {
  /** Its place in the batch. */
  index: number
  rank_behind: CommandStatus['rank_behind']
  /** The freezes that the caller overrides. */
  overridden: ActiveFreeze[]
}

/** An authorized start with its slot. Without a slot the request is queued. */
export type AssignedStart = AuthorizedStart & { slot: Slot | undefined }

interface FreeSlots {
  /** Slots of instances that serve all tenants. */
  slots: readonly Slot[]
  /** Slots of instances that serve one tenant, by tenant. */
  ownSlots: ReadonlyMap<string, readonly Slot[]>
}

/**
 * Assigns a slot to each start that has no pending request before it, and whose tenant is below its limit. Uses instances of
 * the tenant first.
 */
export async function assignSlots(
  tx: Queryable,
  starts: readonly AuthorizedStart[],
  { freezes, room, slots, ownSlots }: { freezes: FreezesInForce; room: TenantRoom | null } & FreeSlots,
): Promise<AssignedStart[]> {
  if (slots.length === 0 && ownSlots.size === 0) return starts.map((start) => ({ ...start, slot: undefined }))
  const first = await findFirstRank(tx, starts, { freezes, room })
  const counted = room === null ? null : await countRoom(tx, starts)
  const shared = [...slots]
  const own = new Map([...ownSlots].map(([tenant, its]) => [tenant, [...its]]))
  return starts.map((start) => {
    const tenant = tenantOf(start)
    const free = [own.get(tenant ?? '') ?? [], shared].find((some) => some.length > 0)
    const isBehind = first !== null && start.rank_behind !== null && first <= start.rank_behind
    const mayStart = free !== undefined && !isBehind && (counted?.take(tenant) ?? true)
    return { ...start, slot: mayStart ? free.shift() : undefined }
  })
}

/** The rank of the first pending request that may start, if it comes before any of these starts. */
async function findFirstRank(
  tx: Queryable,
  starts: readonly AuthorizedStart[],
  limits: QueueLimits,
): Promise<number | null> {
  const ranks = starts.flatMap(({ rank_behind }) => rank_behind ?? [])
  if (ranks.length === 0) return null
  const [first] = await findNextRequests(tx, limits, { limit: 1, maxRank: Math.max(...ranks) })
  return first?.rank ?? null
}

/**
 * How many deployments the tenants may start. Counts again under the lock of each tenant, because other dispatchers may have
 * started some.
 */
async function countRoom(tx: Queryable, starts: readonly AuthorizedStart[]): Promise<TenantRoom | null> {
  const [, room] = await Promise.all([lockTenants(tx, starts.map(tenantOf)), tenantRoom(tx)])
  return room
}
