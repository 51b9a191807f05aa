import { poolName } from '@slipway/domain'
import { groupBlockersOf, type RequestGroup } from './blockers.ts'
import { instancesOf, type PoolUser } from './pools.ts'
import type { Snapshot } from './snapshot.ts'

/** Requests of one group that come before another request. */
export interface GroupBefore extends RequestGroup {
  count: number
  /** How many of them want a target of the other one. */
  sharing: number
}

/**
 * How many requests start before another one and compete with it: for a slot of the same instances, or for a target. A frozen request
 * does not start before it.
 */
export function requestsAhead(snapshot: Snapshot, request: PoolUser, before: readonly GroupBefore[]): number {
  const own = new Set(instancesOf(snapshot.instances, request))
  const competesForSlots = (group: GroupBefore) =>
    instancesOf(snapshot.instances, group).some((instance) => own.has(instance)) ||
    // Both wait for the same instances to join.
    poolName(group.selector) === poolName(request.selector)
  return before
    .filter((group) => groupBlockersOf(snapshot, group, snapshot.now).every(({ code }) => code !== 'freeze'))
    .reduce((sum, group) => sum + (competesForSlots(group) ? group.count : group.sharing), 0)
}
