import type { Queryable } from '@slipway/database'
import { STILL_HELD } from '@slipway/views'

export type LeaseEnd = 'finished' | 'cancelled' | 'lost' | 'overdue' | 'final'

export interface EndedLease {
  deployment_id: string
  epoch: number
  instance_id: string
}

/**
 * Ends the live lease of a deployment, that of `epoch` alone where one is given; null when there is none. Waits for a
 * batch of events that is being applied under it; afterwards no other will be.
 */
export async function endLease(
  tx: Queryable,
  deploymentId: string,
  reason: LeaseEnd,
  epoch: number | null = null,
): Promise<EndedLease | null> {
  const { rows } = await tx.query<EndedLease>(
    `UPDATE leases l SET ended_at = clock_timestamp(), end_reason = $2
      WHERE deployment_id = $1 AND ${STILL_HELD} AND ($3::bigint IS NULL OR epoch = $3)
     RETURNING deployment_id, epoch, instance_id`,
    [deploymentId, reason, epoch],
  )
  return rows[0] ?? null
}
