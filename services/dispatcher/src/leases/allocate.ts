import type { Queryable } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { takesRuns } from '@slipway/views'

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
const SPARE_OF_MANY = 64
/** More than these are looked for among all leases at once: slot by slot, a full instance would be asked for each it has. */
const FEW = 32
const MAX_ROUNDS = 10

/**
 * Locks up to `count` free slots of living, compatible instances, the least loaded first, until the transaction ends.
 * Slots that another transaction holds are passed over. The instances are those of one tenant, or without a tenant those
 * that serve all.
 */
export function lockFreeSlots(tx: Queryable, count: number, tenantId: string | null = null): Promise<Slot[]> {
  return count > FEW ? lockMany(tx, count, tenantId) : lockFew(tx, count, tenantId)
}

/** The tenants that have living, compatible instances of their own; mostly none. */
export async function tenantsWithInstances(tx: Queryable): Promise<string[]> {
  const { rows } = await tx.query<{ tenant_id: string }>(
    `SELECT DISTINCT tenant_id FROM instances WHERE tenant_id IS NOT NULL AND ${takesRuns('$1')}`,
    [COMPATIBLE_VERSION],
  )
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Free slots of the tenants' own instances, as many for each as it is named. */
export async function lockOwnSlots(tx: Queryable, tenants: readonly (string | null)[]): Promise<Map<string, Slot[]>> {
  if (tenants.every((tenant) => tenant === null)) return new Map()
  const owners = (await tenantsWithInstances(tx)).filter((owner) => tenants.includes(owner))
  const wanted = (owner: string) => tenants.filter((tenant) => tenant === owner).length
  return new Map(
    await Promise.all(
      owners.map(async (owner): Promise<[string, Slot[]]> => [owner, await lockFreeSlots(tx, wanted(owner), owner)]),
    ),
  )
}

/**
 * Which of its slots an instance gives does not matter: they are looked for from anywhere on, so that neither the leases
 * before them are read nor others look at the same ones.
 */
async function lockFew(tx: Queryable, count: number, tenantId: string | null): Promise<Slot[]> {
  const { rows } = await tx.query<Slot>(
    `WITH living AS MATERIALIZED (
       SELECT i.id, i.name, i.capacity, floor(random() * i.capacity)::int AS first, count(*) OVER () > 1 AS several
         FROM instances i
        WHERE ${takesRuns('$2')} AND i.tenant_id IS NOT DISTINCT FROM $3::uuid
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
    [count, COMPATIBLE_VERSION, tenantId],
  )
  return rows
}

async function lockMany(tx: Queryable, count: number, tenantId: string | null): Promise<Slot[]> {
  for (let round = 1; ; round += 1) {
    const locked = await lockOfAll(tx, count, tenantId)
    if (locked.length === 0) return []
    // Between the look at a slot and its lock a lease may have come, or an order to drain: look again, now that it holds.
    const free = await stillFree(tx, locked)
    if (free.length > 0 || round === MAX_ROUNDS) return free
  }
}

async function lockOfAll(tx: Queryable, count: number, tenantId: string | null): Promise<Slot[]> {
  const { rows } = await tx.query<Slot>(
    `WITH living AS MATERIALIZED (
       SELECT i.id, i.name, i.capacity, coalesce(live.taken, 0) AS taken
         FROM instances i
         LEFT JOIN (SELECT instance_id, count(*) AS taken FROM leases WHERE ended_at IS NULL GROUP BY instance_id) live
                ON live.instance_id = i.id
        WHERE ${takesRuns('$2')} AND i.tenant_id IS NOT DISTINCT FROM $3::uuid
     ), free AS (
       SELECT living.name, living.id, first.slot, (living.taken + first.place)::float8 / living.capacity AS load
         FROM living
        CROSS JOIN LATERAL (
          SELECT slot, row_number() OVER (ORDER BY slot) AS place
            FROM instance_slots s
           WHERE s.instance_id = living.id AND NOT s.retired
             -- So many of its first slots hold enough free ones, however large the instance is.
             AND s.slot < living.taken + $1 + ${SPARE_OF_MANY}
             AND NOT EXISTS (SELECT FROM leases l
                              WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)
        ) first
     ), least_loaded AS MATERIALIZED (SELECT * FROM free ORDER BY load, id, slot LIMIT $1 + ${SPARE_OF_MANY})
     SELECT s.instance_id, s.slot, least_loaded.name AS instance_name
       FROM least_loaded
       JOIN instance_slots s ON s.instance_id = least_loaded.id AND s.slot = least_loaded.slot
      ORDER BY least_loaded.load, s.instance_id, s.slot
      LIMIT $1
        FOR UPDATE OF s SKIP LOCKED`,
    [count, COMPATIBLE_VERSION, tenantId],
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
