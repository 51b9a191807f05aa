import {
  array,
  bool,
  int4,
  int8,
  jsonb,
  nullable,
  oneOf,
  present,
  STILL_HELD,
  statement,
  takesRuns,
  text,
  uuid,
} from '@slipway/database'
import { INSTANCE_STATUS } from '@slipway/views'

/** How many more slots are read than wanted: other transactions may hold as many at this moment. */
const SPARE = 16
const SPARE_OF_MANY = 64

export const LEASE_ENDS = ['finished', 'cancelled', 'lost', 'overdue', 'final'] as const

export const findTenantsWithInstances = statement({
  name: 'dispatcher.leases.find-tenants-with-instances',
  parameters: { version: text },
  row: { tenant_id: present(uuid) },
  sql: `SELECT DISTINCT tenant_id FROM instances WHERE tenant_id IS NOT NULL AND ${takesRuns(':version')}`,
})

/** With `any` all instances count, else those of the list. */
const SLOTS = {
  parameters: { count: int4, version: text, tenant_id: nullable(uuid), any: bool, instance_ids: array(uuid) },
  row: { instance_id: uuid, slot: int4, instance_name: text },
}
const IS_CANDIDATE = `${takesRuns(':version')} AND i.tenant_id IS NOT DISTINCT FROM :tenant_id::uuid
         AND (:any OR i.id = ANY (:instance_ids))`

/**
 * Locks up to `count` free slots, those of the least loaded instances first. The search within an instance begins at a random
 * slot. It therefore reads few leases, and concurrent searches rarely meet at the same slots. The scalar subqueries make Postgres
 * check slot by slot until it has enough. With EXISTS it joins all slots first, and `create` misses goal 2.
 */
export const lockSlots = statement({
  name: 'dispatcher.leases.lock-slots',
  ...SLOTS,
  sql: `WITH living AS (
      SELECT i.id, i.name, i.capacity, floor(random() * i.capacity)::int AS first, count(*) OVER () > 1 AS several
        FROM instances i
       WHERE ${IS_CANDIDATE}
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
          WHERE (SELECT true FROM instance_slots s
                  WHERE s.instance_id = living.id AND s.slot = turn.slot AND NOT s.retired
                    AND (SELECT true FROM leases l
                          WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL) IS NULL)
          LIMIT :count + ${SPARE}
       ) found
    ), least_loaded AS (SELECT * FROM free ORDER BY load, id LIMIT :count + ${SPARE})
    SELECT locked.instance_id, locked.slot, least_loaded.name AS instance_name
      FROM least_loaded
     CROSS JOIN LATERAL (
       -- OFFSET 0 makes Postgres check slot_is_free after it has locked the slot, not before.
       SELECT instance_id, slot FROM instance_slots s
        WHERE s.instance_id = least_loaded.id AND s.slot = least_loaded.slot AND NOT s.retired OFFSET 0
          FOR UPDATE SKIP LOCKED
     ) locked
     WHERE slot_is_free(locked.instance_id, locked.slot)
     LIMIT :count`,
})

/** Like `lockSlots`, for many slots: it reads all leases once. A slot may be leased before it is locked: check with `findTaken`. */
export const lockManySlots = statement({
  name: 'dispatcher.leases.lock-many-slots',
  ...SLOTS,
  sql: `WITH living AS (
      SELECT i.id, i.name, i.capacity, coalesce(live.taken, 0) AS taken
        FROM instances i
        LEFT JOIN (SELECT instance_id, count(*) AS taken FROM leases WHERE ended_at IS NULL GROUP BY instance_id) live
               ON live.instance_id = i.id
       WHERE ${IS_CANDIDATE}
    ), free AS (
      SELECT living.name, living.id, first.slot, (living.taken + first.place)::float8 / living.capacity AS load
        FROM living
       CROSS JOIN LATERAL (
         SELECT slot, row_number() OVER (ORDER BY slot) AS place
           FROM instance_slots s
          WHERE s.instance_id = living.id AND NOT s.retired
            -- So many of its first slots hold enough free ones, however large the instance is.
            AND s.slot < living.taken + :count::int + ${SPARE_OF_MANY}
            AND NOT EXISTS (SELECT FROM leases l
                             WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL)
       ) first
    ), least_loaded AS (SELECT * FROM free ORDER BY load, id, slot LIMIT :count + ${SPARE_OF_MANY})
    SELECT s.instance_id, s.slot, least_loaded.name AS instance_name
      FROM least_loaded
      JOIN instance_slots s ON s.instance_id = least_loaded.id AND s.slot = least_loaded.slot
     ORDER BY least_loaded.load, s.instance_id, s.slot
     LIMIT :count
       FOR UPDATE OF s SKIP LOCKED`,
})

const labels = jsonb<Record<string, string>>()

/** The instances that take runs, with about as many taken slots as they have. Without a tenant they serve all. */
export const findInstances = statement({
  name: 'dispatcher.leases.find-instances',
  parameters: { version: text },
  row: { id: uuid, tenant_id: nullable(uuid), labels, capacity: int4, taken: int8 },
  sql: `SELECT i.id, i.tenant_id, i.labels, i.capacity,
           (SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) AS taken
      FROM instances i WHERE ${takesRuns(':version')}`,
})

export const findLabels = statement({
  name: 'dispatcher.leases.find-labels',
  parameters: { ids: array(uuid) },
  row: { id: uuid, labels },
  sql: 'SELECT id, labels FROM instances WHERE id = ANY (:ids)',
})

/**
 * The live leases of these instances on the slots `first` to `last`. A row with `slot` null is an instance that drains. With a
 * list of slots instead of the range, Postgres reads all leases for each slot, and `drain` misses goal 4.
 */
export const findTaken = statement({
  name: 'dispatcher.leases.find-taken',
  parameters: { instance_ids: array(uuid), first: int4, last: int4 },
  row: { instance_id: uuid, slot: nullable(int4) },
  sql: `SELECT instance_id, slot FROM leases
     WHERE instance_id = ANY(:instance_ids) AND slot BETWEEN :first AND :last AND ended_at IS NULL
    UNION ALL
    SELECT id, NULL FROM instances WHERE id = ANY(:instance_ids) AND draining`,
})

/** Uses clock_timestamp(): now() is when the transaction began, and the slot may have become free after that. */
export const addLeases = statement({
  name: 'dispatcher.leases.add',
  parameters: { instance_ids: array(uuid), slots: array(int4), deployment_ids: array(uuid) },
  row: { deployment_id: uuid, epoch: int8 },
  sql: `INSERT INTO leases (instance_id, slot, deployment_id, acquired_at)
    SELECT *, clock_timestamp() FROM unnest(:instance_ids::uuid[], :slots::int[], :deployment_ids::uuid[])
    RETURNING deployment_id, epoch`,
})

/** Ends the live lease of a deployment. With `epoch`, only that lease. */
export const endLeaseOf = statement({
  name: 'dispatcher.leases.end',
  parameters: { deployment_id: uuid, reason: oneOf('text', LEASE_ENDS), epoch: nullable(int8) },
  row: { deployment_id: uuid, epoch: int8, instance_id: uuid },
  sql: `UPDATE leases l SET ended_at = clock_timestamp(), end_reason = :reason
     WHERE deployment_id = :deployment_id AND ${STILL_HELD} AND (:epoch::bigint IS NULL OR epoch = :epoch)
    RETURNING deployment_id, epoch, instance_id`,
})

export const countSlots = statement({
  name: 'dispatcher.leases.count-slots',
  row: { slots: int4, leases: int8, online: int8, draining: int8, offline: int8 },
  sql: `SELECT coalesce(sum(capacity) FILTER (WHERE status = 'online'), 0)::int AS slots,
           (SELECT count(*) FROM leases WHERE ended_at IS NULL) AS leases,
           count(*) FILTER (WHERE status = 'online') AS online,
           count(*) FILTER (WHERE status = 'draining') AS draining,
           count(*) FILTER (WHERE status = 'offline') AS offline
      FROM (SELECT i.capacity, ${INSTANCE_STATUS} AS status FROM instances i WHERE i.removed_at IS NULL) known`,
})

/**
 * SQL: the running deployments `d` without an instance: their last lease `l` ended because its instance was lost. The search
 * begins with lost leases, because these are few and deployments may be many.
 */
export const ORPHANS = `leases l JOIN deployments d ON d.id = l.deployment_id
  WHERE l.end_reason = 'lost' AND d.completed_at IS NULL
    AND NOT EXISTS (SELECT FROM leases later WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch)`

/**
 * SQL: whether there is such a deployment. The scalar subqueries make Postgres begin with the lost leases. With the join of
 * `ORPHANS` it reads every running deployment, and `create` misses goal 1.
 */
export const ANY_ORPHAN = `EXISTS (SELECT FROM leases l
  WHERE l.end_reason = 'lost'
    AND (SELECT d.completed_at IS NULL FROM deployments d WHERE d.id = l.deployment_id)
    AND (SELECT true FROM leases later
          WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch LIMIT 1) IS NULL)`

export const isAnyOrphan = statement({
  name: 'dispatcher.leases.any-orphan',
  row: { any: bool },
  sql: `SELECT ${ANY_ORPHAN} AS any`,
})
