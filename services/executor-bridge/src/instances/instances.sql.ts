import { bool, int4, int8, LOST_AFTER, nullable, statement, text, uuid } from '@slipway/database'
import { allowedLabels, labels } from '../labels.sql.ts'

// What administrators do with instances.

/** `heard`: the instance is not lost. */
export const lockInstance = statement({
  name: 'executor-bridge.instances.lock',
  parameters: { id: uuid },
  row: { name: text, tenant_id: nullable(uuid), draining: bool, labels, heard: bool, active: int8 },
  sql: `SELECT name, tenant_id, draining, labels,
           coalesce(last_heartbeat_at, enrolled_at) >= now() - interval '${LOST_AFTER}' AS heard,
           (SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) AS active
      FROM instances i WHERE id = :id AND removed_at IS NULL FOR UPDATE`,
})

export const changeInstance = statement({
  name: 'executor-bridge.instances.change',
  parameters: { id: uuid, draining: bool, labels },
  sql: 'UPDATE instances SET draining = :draining, labels = :labels WHERE id = :id',
})

/** Sets `draining` too, because a dispatcher checks that once more after it has locked a slot. */
export const removeInstance = statement({
  name: 'executor-bridge.instances.remove',
  parameters: { id: uuid },
  sql: `UPDATE instances SET removed_at = now(), draining = true, credential_hash = '', next_credential_hash = NULL,
           former_credential_hash = NULL, former_credential_until = NULL, join_key_hash = NULL
     WHERE id = :id`,
})

/** Waits for a dispatcher that is leasing one of the slots. The next dispatcher sees the change. */
export const lockSlots = statement({
  name: 'executor-bridge.instances.lock-slots',
  parameters: { id: uuid },
  sql: 'SELECT FROM instance_slots WHERE instance_id = :id ORDER BY slot FOR UPDATE',
})

/** Slots below the capacity, new or used again. */
export const addSlots = statement({
  name: 'executor-bridge.instances.add-slots',
  parameters: { id: uuid, capacity: int4 },
  sql: `INSERT INTO instance_slots (instance_id, slot) SELECT :id, generate_series(0, :capacity::int - 1)
    ON CONFLICT (instance_id, slot) DO UPDATE SET retired = false WHERE instance_slots.retired`,
})

export const retireSlots = statement({
  name: 'executor-bridge.instances.retire-slots',
  parameters: { id: uuid, capacity: int4 },
  sql: 'UPDATE instance_slots SET retired = true WHERE instance_id = :id AND slot >= :capacity AND NOT retired',
})

// Credentials.

export const findCredentials = statement({
  name: 'executor-bridge.instances.find-credentials',
  parameters: { id: uuid },
  row: { current: text, next: nullable(text), former: nullable(text), removed: bool },
  sql: `SELECT credential_hash AS current, next_credential_hash AS next, removed_at IS NOT NULL AS removed,
           CASE WHEN former_credential_until > now() THEN former_credential_hash END AS former
      FROM instances WHERE id = :id`,
})

/** Makes the next credential the current one. Calls that began with the former one are accepted for another hour. */
export const useNextCredential = statement({
  name: 'executor-bridge.instances.use-next-credential',
  parameters: { id: uuid, hash: text },
  sql: `UPDATE instances SET credential_hash = next_credential_hash, next_credential_hash = NULL, join_key_hash = NULL,
           former_credential_hash = nullif(credential_hash, ''), former_credential_until = now() + interval '1 hour'
     WHERE id = :id AND next_credential_hash = :hash`,
})

export const setNextCredential = statement({
  name: 'executor-bridge.instances.set-next-credential',
  parameters: { id: uuid, hash: text },
  sql: 'UPDATE instances SET next_credential_hash = :hash WHERE id = :id AND removed_at IS NULL',
})

// Heartbeats.

export const lockAllowedLabels = statement({
  name: 'executor-bridge.instances.lock-allowed-labels',
  parameters: { id: uuid },
  row: { allowed_labels: allowedLabels },
  sql: 'SELECT allowed_labels FROM instances WHERE id = :id AND removed_at IS NULL FOR UPDATE',
})

/**
 * Stores what an instance reports about itself. If it reports the same labels as before, labels that an administrator has set
 * stay. `changed`: the instance was lost, or reports something new.
 */
export const noteHeartbeat = statement({
  name: 'executor-bridge.instances.note-heartbeat',
  parameters: { id: uuid, version: text, capacity: int4, labels, accepts_runs: bool },
  row: { tenant_id: nullable(uuid), resized: bool, changed: bool },
  sql: `UPDATE instances i SET last_heartbeat_at = now(), version = :version, capacity = :capacity,
           accepts_runs = :accepts_runs, enrolled_labels = :labels,
           labels = CASE WHEN i.enrolled_labels = :labels THEN i.labels ELSE :labels END
      FROM (SELECT * FROM instances WHERE id = :id) before
     WHERE i.id = before.id
    RETURNING before.tenant_id, before.capacity <> :capacity AS resized,
      (before.version, before.capacity, before.enrolled_labels, before.accepts_runs)
        IS DISTINCT FROM (:version, :capacity, :labels, :accepts_runs)
        OR before.last_heartbeat_at IS NULL OR before.last_heartbeat_at < now() - interval '${LOST_AFTER}' AS changed`,
})
