import type { Queryable, RowOf } from '@slipway/database'
import { endLeaseOf, type LEASE_ENDS } from './leases.sql.ts'

export type EndedLease = RowOf<typeof endLeaseOf>

/**
 * Ends the live lease of a deployment and returns it; null if there is none. With `epoch`, ends only that lease. Waits for the
 * event batch in progress; later batches are rejected.
 */
export function endLease(
  tx: Queryable,
  deploymentId: string,
  reason: (typeof LEASE_ENDS)[number],
  epoch: number | null = null,
): Promise<EndedLease | null> {
  return endLeaseOf.first(tx, { deployment_id: deploymentId, reason, epoch })
}
