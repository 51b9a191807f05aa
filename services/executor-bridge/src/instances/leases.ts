import type { RunRef } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { findEndedLeases, type findLiveLeases } from './leases.sql.ts'

/**
 * A live lease of an instance, and how far its run has come.
 *
 * - `next_event`: the number of the next event under this epoch. More than 0 proves that the instance had the run.
 * - `stale`: taken before the instance began anew, without its journal.
 * - `overdue`: old enough that the instance must have received it.
 */
export type LiveLease = RowOf<typeof findLiveLeases>

/** The leases of these epochs that the instance had and that have ended. */
export async function endedLeases(
  db: Queryable,
  instanceId: string,
  epochs: readonly number[],
): Promise<RowOf<typeof findEndedLeases>[]> {
  return epochs.length === 0 ? [] : findEndedLeases.all(db, { instance_id: instanceId, epochs })
}

export const keyOf = ({ deployment_id, epoch }: RunRef) => `${deployment_id.toLowerCase()}/${epoch}`
