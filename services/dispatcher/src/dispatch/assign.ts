import type { Queryable } from '@slipway/database'
import { type ActiveFreeze, matchesLabels } from '@slipway/domain'
import type { Slot } from '../leases/allocate.ts'
import { FreeSlots } from '../leases/pools.ts'
import type { Superseded } from '../locks/supersede.ts'
import { type FirstOfPool, findFirstOfPools, findNextRequests, type QueueLimits } from '../pending/queue.ts'
import { lockTenants, type TenantRoom, tenantRoom } from '../pending/tenant-room.ts'
import { findOrphanSelectors } from '../runs/runs.sql.ts'
import type { CommandStatus, StartCommand } from './start-commands.ts'
import { type StartSlots, selectorOf, tenantOf } from './start-slots.ts'

/** A command that no freeze, deadline or earlier copy forbids. */
export interface AuthorizedStart extends StartCommand {
  /** Its place in the batch. */
  index: number
  rank_behind: CommandStatus['rank_behind']
  /** The freezes that the caller overrides. */
  overridden: ActiveFreeze[]
  /** The ids of the targets that it locks. */
  locks: readonly string[]
  /** Whether it must wait for one of them. */
  isBlocked: boolean
  superseded: Superseded
}

/** An authorized start with its slot. Without a slot the request is queued. */
export type AssignedStart = AuthorizedStart & { slot: Slot | undefined }

interface Options extends QueueLimits, StartSlots {
  /** Whether deployments have lost their instance. They get slots first. */
  orphaned: boolean
}

/**
 * Assigns a slot to each start whose targets are free and whose tenant is below its limit, unless an orphan or a pending request
 * that comes first could use the slot. Uses instances of the tenant first.
 */
export async function assignSlots(
  tx: Queryable,
  starts: readonly AuthorizedStart[],
  { slots, ownSlots, orphaned, ...limits }: Options,
): Promise<AssignedStart[]> {
  if (slots.length === 0 && ownSlots.size === 0) return starts.map((start) => ({ ...start, slot: undefined }))
  const [orphans, pending] = [orphaned ? await findOrphanSelectors.all(tx) : [], await findFirsts(tx, starts, limits)]
  const firsts = [...orphans.map(({ selector }) => ({ selector, rank: Number.NEGATIVE_INFINITY })), ...pending]
  const counted = limits.room === null ? null : await countRoom(tx, starts)
  const isPooled = [...starts.map(selectorOf), ...firsts.map(({ selector }) => selector)].some((one) => one !== null)
  const freeSlots = (some: readonly Slot[]) => (isPooled ? FreeSlots.withLabels(tx, some) : new FreeSlots(some))
  const shared = await freeSlots(slots)
  const own = new Map<string | null, FreeSlots>()
  for (const [tenant, its] of ownSlots) own.set(tenant, await freeSlots(its))
  return starts.map((start) => {
    const tenant = tenantOf(start)
    if (start.isBlocked || (counted !== null && counted.left(tenant) === 0)) return { ...start, slot: undefined }
    const before = firsts.filter((first) => comesFirst(first, start))
    const isReserved = (labels: Record<string, string>) =>
      before.some(({ selector }) => matchesLabels(selector, labels))
    const take = (free: FreeSlots | undefined) => free?.take(selectorOf(start), isReserved)
    const slot = take(own.get(tenant)) ?? take(shared)
    if (slot !== undefined) counted?.take(tenant)
    return { ...start, slot }
  })
}

const comesFirst = ({ rank }: FirstOfPool, { rank_behind }: AuthorizedStart) =>
  rank === Number.NEGATIVE_INFINITY || (rank_behind !== null && rank <= rank_behind)

/** The first pending request of each pool that may start, if it comes before any of these starts. */
async function findFirsts(
  tx: Queryable,
  starts: readonly AuthorizedStart[],
  limits: QueueLimits,
): Promise<FirstOfPool[]> {
  const ranks = starts.flatMap(({ rank_behind }) => rank_behind ?? [])
  if (ranks.length === 0) return []
  const maxRank = Math.max(...ranks)
  if (limits.pooled) return findFirstOfPools(tx, limits, maxRank)
  return findNextRequests(tx, limits, { limit: 1, maxRank })
}

/**
 * How many deployments the tenants may start. Counts again under the lock of each tenant, because other dispatchers may have
 * started some.
 */
async function countRoom(tx: Queryable, starts: readonly AuthorizedStart[]): Promise<TenantRoom | null> {
  const [, room] = await Promise.all([lockTenants(tx, starts.map(tenantOf)), tenantRoom(tx)])
  return room
}
