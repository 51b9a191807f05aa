import type { RunRef } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { LOST_AFTER } from '@slipway/views'

/** A live lease of an instance, and how far its run has come. */
export interface LiveLease extends RunRef {
  total_steps: number
  /** The number of the next event under this epoch: more than 0 proves that the instance had the run. */
  next_event: number
  finished: boolean
  /** Taken before the instance began anew, without its journal. */
  stale: boolean
  /** Old enough that the instance must have been told of it. */
  overdue: boolean
}

export async function liveLeases(db: Queryable, instanceId: string): Promise<LiveLease[]> {
  const { rows } = await db.query<LiveLease>(
    `SELECT l.deployment_id, l.epoch, d.total_steps,
            CASE WHEN p.epoch = l.epoch THEN p.next_event ELSE 0 END AS next_event,
            COALESCE(p.epoch = l.epoch AND p.finished_at IS NOT NULL, false) AS finished,
            l.acquired_at < i.enrolled_at AS stale,
            l.acquired_at < now() - interval '${LOST_AFTER}' AS overdue
     FROM leases l
     JOIN instances i ON i.id = l.instance_id
     JOIN deployments d ON d.id = l.deployment_id
     LEFT JOIN run_progress p ON p.deployment_id = l.deployment_id
     WHERE l.instance_id = $1 AND l.ended_at IS NULL`,
    [instanceId],
  )
  return rows
}

export interface EndedLease extends RunRef {
  end_reason: string
}

/** Those of the epochs whose lease was this instance's and has ended. */
export async function endedLeases(db: Queryable, instanceId: string, epochs: readonly number[]): Promise<EndedLease[]> {
  if (epochs.length === 0) return []
  const { rows } = await db.query<EndedLease>(
    `SELECT deployment_id, epoch, COALESCE(end_reason, '') AS end_reason FROM leases
     WHERE epoch = ANY($2::bigint[]) AND instance_id = $1 AND ended_at IS NOT NULL`,
    [instanceId, epochs],
  )
  return rows
}

export const keyOf = ({ deployment_id, epoch }: RunRef) => `${deployment_id.toLowerCase()}/${epoch}`
