import type { Queryable, RowOf } from '@slipway/database'
import type { Plan } from '@slipway/domain'
import { findLocked, takeLocks } from './locks.sql.ts'

/** A target with a policy other than `allow`. */
export type LockedTarget = RowOf<typeof findLocked>

export const isFree = ({ held, reserved_by }: LockedTarget) => !held && reserved_by === null

/** A plan with the rank from which on pending requests come first; null: none does. */
export interface RankedPlan {
  plan: Plan
  rank: number | null
}

/** The pending requests that reserve their targets: of these freeze subjects (null: of all), and not of these tenants. */
export interface Reserving {
  freeze_keys: readonly string[] | null
  full_tenants: readonly string[]
}

/** For each plan its targets with a policy, and whether they are free for it. Policies are those of the records now. */
export async function readLocks(
  tx: Queryable,
  plans: readonly RankedPlan[],
  reserving: Reserving,
): Promise<LockedTarget[][]> {
  const targets = plans.flatMap(({ plan, rank }, list) => plan.targets.map(({ id }) => ({ list, id, rank })))
  const found = await findLocked.all(tx, {
    lists: targets.map(({ list }) => list),
    target_ids: targets.map(({ id }) => id),
    ranks: targets.map(({ rank }) => rank),
    ...reserving,
  })
  const lists: LockedTarget[][] = plans.map(() => [])
  for (const target of found) lists[target.list]?.push(target)
  return lists
}

/** Another transaction took a lock since it was found free. The database runs the transaction again, as after a collision. */
class TakenMeanwhile extends Error {
  override name = 'TakenMeanwhile'
  readonly code = '40001'
  readonly severity = 'ERROR'
}

/** A deployment that starts, with the ids of the targets that it locks. */
export interface Locking {
  deployment_id: string
  command: { plan: Plan }
  locks: readonly string[]
}

/** Takes all locks of these deployments under their leases, in one statement. */
export async function takeTargetLocks(
  tx: Queryable,
  starting: readonly Locking[],
  leases: readonly { deployment_id: string; epoch: number }[],
): Promise<void> {
  const epochs = new Map(leases.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  const rows = starting.flatMap(({ deployment_id, command, locks }) => {
    if (locks.length === 0) return []
    const places = new Map(command.plan.targets.map(({ id }, index) => [id, index]))
    const epoch = epochs.get(deployment_id) as number
    return locks.map((target_id) => ({ target_id, deployment_id, index: places.get(target_id) as number, epoch }))
  })
  if (rows.length === 0) return
  const taken = await takeLocks.run(tx, {
    target_ids: rows.map(({ target_id }) => target_id),
    deployment_ids: rows.map(({ deployment_id }) => deployment_id),
    target_indexes: rows.map(({ index }) => index),
    epochs: rows.map(({ epoch }) => epoch),
  })
  if (taken < rows.length) throw new TakenMeanwhile('another deployment has taken a target meanwhile')
}
