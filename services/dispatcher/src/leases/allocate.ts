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

const MAX_ROUNDS = 10
/** Slots looked at beyond those wanted: as many as other transactions may hold in the same moment. */
const SPARE = 64

/**
 * Locks up to `count` free slots of living, compatible instances, the least loaded first, until the transaction ends.
 * Slots that another transaction holds are passed over.
 */
export async function lockFreeSlots(tx: Queryable, count: number): Promise<Slot[]> {
  for (let round = 1; ; round += 1) {
    const locked = await lockSlots(tx, count)
    if (locked.length === 0) return []
    // Between the look at a slot and its lock a lease may have come, or an order to drain: look again, now that it holds.
    const free = await stillFree(tx, locked)
    if (free.length > 0 || round === MAX_ROUNDS) return free
  }
}

async function lockSlots(tx: Queryable, count: number): Promise<Slot[]> {
  const { rows } = await tx.query<Slot>(
    `WITH living AS MATERIALIZED (
       SELECT i.id, i.name, i.capacity, coalesce(live.taken, 0) AS taken
         FROM instances i
         LEFT JOIN (SELECT instance_id, count(*) AS taken FROM leases WHERE ended_at IS NULL GROUP BY instance_id) live
                ON live.instance_id = i.id
        WHERE ${takesRuns('$2')}
     ), free AS (
       SELECT living.name, living.id, first.slot, (living.taken + first.place)::float8 / living.capacity AS load
         FROM living
        CROSS JOIN LATERAL (
          SELECT slot, row_number() OVER (ORDER BY slot) AS place
            FROM instance_slots s
           WHERE s.instance_id = living.id AND NOT s.retired
             -- So many of its first slots hold enough free ones, however large the instance is.
             AND s.slot < living.taken + $1 + ${SPARE}
             AND NOT EXISTS (SELECT FROM leases l
                              WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)
        ) first
     ), least_loaded AS MATERIALIZED (SELECT * FROM free ORDER BY load, id, slot LIMIT $1 + ${SPARE})
     SELECT s.instance_id, s.slot, least_loaded.name AS instance_name
       FROM least_loaded
       JOIN instance_slots s ON s.instance_id = least_loaded.id AND s.slot = least_loaded.slot
      ORDER BY least_loaded.load, s.instance_id, s.slot
      LIMIT $1
        FOR UPDATE OF s SKIP LOCKED`,
    [count, COMPATIBLE_VERSION],
  )
  return rows
}

async function stillFree(tx: Queryable, slots: Slot[]): Promise<Slot[]> {
  const instances = [...new Set(slots.map(({ instance_id }) => instance_id))]
  const numbers = slots.map(({ slot }) => slot)
  const { rows } = await tx.query<{ instance_id: string; slot: number | null }>(
    // In one pass whatever the plan: one made while there are few leases is kept, and slot by slot it may read them all.
    `SELECT instance_id, slot FROM leases
      WHERE instance_id = ANY($1::uuid[]) AND slot BETWEEN $2 AND $3 AND ended_at IS NULL
     UNION ALL
     SELECT id, NULL FROM instances WHERE id = ANY($1::uuid[]) AND draining`,
    [instances, Math.min(...numbers), Math.max(...numbers)],
  )
  const draining = new Set(rows.flatMap(({ instance_id, slot }) => (slot === null ? [instance_id] : [])))
  const placeOf = ({ instance_id, slot }: { instance_id: string; slot: number | null }) => `${instance_id} ${slot}`
  const taken = new Set(rows.map(placeOf))
  return slots.filter((slot) => !draining.has(slot.instance_id) && !taken.has(placeOf(slot)))
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
