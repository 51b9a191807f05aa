import {
  int4,
  int8,
  jsonb,
  nullable,
  oneOf,
  rowSet,
  STILL_HELD,
  statement,
  takesRuns,
  text,
  uuid,
} from '@slipway/database'
import { INSTANCE_STATUS } from '@slipway/database/read-models'
import type { Instance } from '@slipway/engine'

export const LEASE_ENDS = ['finished', 'cancelled', 'lost', 'overdue', 'final'] as const

/**
 * Leases slots that are free and not retired, in the given order. Skips slots that a change of their instance has locked. Uses
 * clock_timestamp(): now() is when the transaction began, and the slot may have become free after that.
 */
export const addLeases = statement({
  name: 'dispatcher.leases.add',
  parameters: { leases: rowSet({ instance_id: uuid, slot: int4, deployment_id: uuid }, 'place') },
  row: { deployment_id: uuid, epoch: int8 },
  sql: `WITH locked AS (
      SELECT w.* FROM :leases AS w
        JOIN instance_slots s ON s.instance_id = w.instance_id AND s.slot = w.slot
       WHERE NOT s.retired FOR UPDATE OF s SKIP LOCKED)
    INSERT INTO leases (instance_id, slot, deployment_id, acquired_at)
    SELECT instance_id, slot, deployment_id, clock_timestamp() FROM locked ORDER BY place
    ON CONFLICT (instance_id, slot) WHERE ended_at IS NULL DO NOTHING
    RETURNING deployment_id, epoch`,
})

/** Which of these instances take no runs now, or have other labels or another tenant. */
export const findMoved = statement({
  name: 'dispatcher.leases.find-moved',
  parameters: { seen: jsonb<readonly Pick<Instance, 'id' | 'tenant_id' | 'labels'>[]>(), version: text },
  row: { id: uuid },
  sql: `SELECT i.id FROM jsonb_to_recordset(:seen::jsonb) AS seen (id uuid, tenant_id uuid, labels jsonb)
      JOIN instances i ON i.id = seen.id
     WHERE NOT (${takesRuns(':version')}) OR i.labels <> seen.labels
        OR i.tenant_id IS DISTINCT FROM seen.tenant_id`,
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
