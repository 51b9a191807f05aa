import { Collision, type Queryable, type RowOf } from '@slipway/database'
import type { Plan } from '@slipway/domain'
import { findLocked, takeLocks } from './locks.sql.ts'

/** The targets of a plan that share a policy other than `allow` and are all free, held or reserved. */
export type LockedTargets = RowOf<typeof findLocked>

export const isFree = ({ held, reserved }: LockedTargets) => !held && !reserved

export const idsOf = (locks: readonly LockedTargets[]) => locks.flatMap(({ target_ids }) => target_ids)

/** A plan with the rank from which on pending requests come first; null: none does. */
export interface RankedPlan {
  plan: Plan
  rank: number | null
}

/** Selects the pending requests that reserve their targets: those of these freeze subjects (null: all), without these tenants. */
export interface Reserving {
  freeze_keys: readonly string[] | null
  full_tenants: readonly string[]
}

/** For each plan its targets with a policy, and whether they are free for it. Policies are those of the records now. */
export async function readLocks(
  tx: Queryable,
  plans: readonly RankedPlan[],
  reserving: Reserving,
): Promise<LockedTargets[][]> {
  const found = await findLocked.all(tx, {
    lists: plans.map(({ plan, rank }) => ({ rank, target_ids: plan.targets.map(({ id }) => id) })),
    ...reserving,
  })
  const lists: LockedTargets[][] = plans.map(() => [])
  for (const targets of found) lists[targets.list - 1]?.push(targets)
  return lists
}

/** A deployment that starts, with the ids of the targets that it locks. */
export interface Locking {
  deployment_id: string
  locks: readonly string[]
}

/**
 * Takes all locks of these deployments under their leases, in one statement.
 * @throws Collision if another transaction took one since it was found free
 */
export async function takeTargetLocks(
  tx: Queryable,
  starting: readonly Locking[],
  leases: readonly { deployment_id: string; epoch: number }[],
): Promise<void> {
  const epochs = new Map(leases.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  const count = starting.reduce((total, { locks }) => total + locks.length, 0)
  if (count === 0) return
  const taken = await takeLocks.run(tx, {
    deployments: starting.map(({ deployment_id, locks }) => ({
      deployment_id,
      epoch: epochs.get(deployment_id) as number,
      target_ids: locks,
    })),
  })
  if (taken < count) throw new Collision('another deployment has taken a target meanwhile')
}
