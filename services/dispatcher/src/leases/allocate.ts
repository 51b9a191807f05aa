import { type Queryable, takesRuns } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'

export interface Slot {
  instance_id: string
  slot: number
  instance_name: string
}

export interface Lease extends Slot {
  deployment_id: string
  epoch: number
}

/** Slots looked at beyond those wanted: as many as other transactions may hold in the same moment. */
const SPARE = 16

/**
 * Locks up to `count` free slots of living, compatible instances, the least loaded first, until the transaction ends.
 * Slots that another transaction holds are passed over. Which of its slots an instance gives does not matter: they are
 * looked for from anywhere on, so that neither the leases before them are read nor others look at the same ones.
 */
export async function lockFreeSlots(tx: Queryable, count: number): Promise<Slot[]> {
  const { rows } = await tx.query<Slot>(
    `WITH living AS MATERIALIZED (
       SELECT i.id, i.name, i.capacity, floor(random() * i.capacity)::int AS first, count(*) OVER () > 1 AS several
         FROM instances i
        WHERE ${takesRuns('$2')}
     ), free AS (
       SELECT living.id, living.name, found.slot, (load.taken + found.place)::float8 / living.capacity AS load
         FROM living
        CROSS JOIN LATERAL (
          SELECT CASE WHEN living.several
                      THEN (SELECT count(*) FROM leases l WHERE l.instance_id = living.id AND l.ended_at IS NULL)
                      ELSE 0 END AS taken
        ) load
        CROSS JOIN LATERAL (
          SELECT slot, row_number() OVER () AS place
            FROM (SELECT generate_series(living.first, living.first + living.capacity - 1) % living.capacity AS slot) turn
           -- Asked slot by slot, until there are enough; a join would read all leases first.
           WHERE (SELECT true FROM instance_slots s
                   WHERE s.instance_id = living.id AND s.slot = turn.slot AND NOT s.retired
                     AND (SELECT true FROM leases l
                           WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL) IS NULL)
           LIMIT $1 + ${SPARE}
        ) found
     ), least_loaded AS MATERIALIZED (SELECT * FROM free ORDER BY load, id LIMIT $1 + ${SPARE})
     SELECT locked.instance_id, locked.slot, least_loaded.name AS instance_name
       FROM least_loaded
      CROSS JOIN LATERAL (
        -- OFFSET keeps what is asked of the locked row from being asked before.
        SELECT instance_id, slot FROM instance_slots s
         WHERE s.instance_id = least_loaded.id AND s.slot = least_loaded.slot AND NOT s.retired OFFSET 0
           FOR UPDATE SKIP LOCKED
      ) locked
      WHERE slot_is_free(locked.instance_id, locked.slot)
      LIMIT $1`,
    [count, COMPATIBLE_VERSION],
  )
  return rows
}

/** Leases locked slots to deployments, one each. Every lease gets an epoch above all that went before. */
export async function insertLeases(
  tx: Queryable,
  wanted: readonly { slot: Slot; deployment_id: string }[],
): Promise<Lease[]> {
  const { rows } = await tx.query<{ deployment_id: string; epoch: number }>(
    // Not now(), the transaction's beginning: the slot may have become free since then.
    `INSERT INTO leases (instance_id, slot, deployment_id, acquired_at)
     SELECT *, clock_timestamp() FROM unnest($1::uuid[], $2::int[], $3::uuid[])
     RETURNING deployment_id, epoch`,
    [
      wanted.map(({ slot }) => slot.instance_id),
      wanted.map(({ slot }) => slot.slot),
      wanted.map(({ deployment_id }) => deployment_id),
    ],
  )
  const epochs = new Map(rows.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  return wanted.map(({ slot, deployment_id }) => {
    const epoch = epochs.get(deployment_id)
    if (epoch === undefined) throw new Error(`No lease was inserted for deployment ${deployment_id}`)
    return { ...slot, deployment_id, epoch }
  })
}
