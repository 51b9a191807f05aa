import type { Queryable, RowOf } from '@slipway/database'
import { endLeaseOf, type LEASE_ENDS } from './leases.sql.ts'

export type EndedLease = RowOf<typeof endLeaseOf>

/**
 * Ends the live lease of a deployment, that of `epoch` alone where one is given; null when there is none. Waits for a
 * batch of events that is being applied under it; afterwards no other will be.
 */
export function endLease(
  tx: Queryable,
  deploymentId: string,
  reason: (typeof LEASE_ENDS)[number],
  epoch: number | null = null,
): Promise<EndedLease | null> {
  return endLeaseOf.first(tx, { deployment_id: deploymentId, reason, epoch })
}
