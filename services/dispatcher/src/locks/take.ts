import type { Queryable } from '@slipway/database'
import { Moved } from '../leases/leases.ts'
import { takeLocks } from './locks.sql.ts'

/** A deployment that starts, with the ids of the targets that it locks. */
export interface Locking {
  deployment_id: string
  locks: readonly string[]
}

/**
 * Takes all locks of these deployments under their leases, in one statement.
 * @throws Moved if another transaction took one since it was found free
 */
export async function takeTargetLocks(
  tx: Queryable,
  starting: readonly Locking[],
  leases: readonly { deployment_id: string; epoch: number }[],
): Promise<void> {
  const locking = starting.filter(({ locks }) => locks.length > 0)
  if (locking.length === 0) return
  const epochs = new Map(leases.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  const rows = await takeLocks.all(tx, {
    deployments: locking.map(({ deployment_id, locks }) => ({
      deployment_id,
      epoch: epochs.get(deployment_id) ?? 0,
      target_ids: locks,
    })),
  })
  const taken = new Map(rows.map((row) => [row.deployment_id, row.taken]))
  const lost = locking.filter(({ deployment_id, locks }) => taken.get(deployment_id) !== locks.length)
  if (lost.length > 0) throw new Moved(lost.map(({ deployment_id }) => deployment_id))
}
