import type { RunRef } from '@slipway/contracts'
import {
  array,
  bool,
  int4,
  int8,
  LOST_AFTER,
  type Queryable,
  type RowOf,
  statement,
  text,
  uuid,
} from '@slipway/database'

/** The live leases of an instance, and how far their runs have come. See LiveLease. */
export const findLiveLeases = statement({
  name: 'executor-bridge.leases.find-live',
  parameters: { instance_id: uuid },
  row: {
    deployment_id: uuid,
    epoch: int8,
    total_steps: int4,
    next_event: int8,
    finished: bool,
    stale: bool,
    overdue: bool,
  },
  sql: `SELECT l.deployment_id, l.epoch, d.total_steps,
           CASE WHEN p.epoch = l.epoch THEN p.next_event ELSE 0 END AS next_event,
           coalesce(p.epoch = l.epoch AND p.finished_at IS NOT NULL, false) AS finished,
           l.acquired_at < i.enrolled_at AS stale, l.acquired_at < now() - interval '${LOST_AFTER}' AS overdue
      FROM leases l
      JOIN instances i ON i.id = l.instance_id
      JOIN deployments d ON d.id = l.deployment_id
      LEFT JOIN run_progress p ON p.deployment_id = l.deployment_id
     WHERE l.instance_id = :instance_id AND l.ended_at IS NULL`,
})

const findEndedLeases = statement({
  name: 'executor-bridge.leases.find-ended',
  parameters: { instance_id: uuid, epochs: array(int8) },
  row: { deployment_id: uuid, epoch: int8, end_reason: text },
  sql: `SELECT deployment_id, epoch, coalesce(end_reason, '') AS end_reason FROM leases
     WHERE epoch = ANY (:epochs) AND instance_id = :instance_id AND ended_at IS NOT NULL`,
})

/** Live leases of runs without any event yet. */
export const findUnstartedLeases = statement({
  name: 'executor-bridge.leases.find-unstarted',
  parameters: { instance_id: uuid, epochs: array(int8) },
  row: { deployment_id: uuid, epoch: int8 },
  sql: `SELECT l.deployment_id, l.epoch FROM leases l
      LEFT JOIN run_progress p ON p.deployment_id = l.deployment_id AND p.epoch = l.epoch
     WHERE l.epoch = ANY (:epochs) AND l.instance_id = :instance_id AND l.ended_at IS NULL
       AND coalesce(p.next_event, 0) = 0`,
})

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
