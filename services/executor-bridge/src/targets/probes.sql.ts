import {
  array,
  bool,
  float8,
  int4,
  int8,
  jsonb,
  LOST_AFTER,
  nullable,
  rowSet,
  statement,
  text,
  uuid,
} from '@slipway/database'
import { REACHED_FOR, targetStatus } from '@slipway/database/read-models'
import type { StoredConnection } from './records.sql.ts'

/** SQL: the records whose selectors count for the target `t`, as MATCHES reads them. */
const RECORDS = `LEFT JOIN environments e ON e.id = t.environment_id LEFT JOIN tenants n ON n.id = t.tenant_id`

/**
 * SQL: whether the instance `i` may probe the target `t`: it serves the tenant of the target, and matches the selectors of the
 * target, its environment `e` and its tenant `n`. An instance of one tenant probes the targets of that tenant and shared ones.
 */
const MATCHES = [
  '(i.tenant_id IS NULL OR t.tenant_id IS NULL OR i.tenant_id = t.tenant_id)',
  ...['t', 'e', 'n'].map(
    (of) => `coalesce(${of}.instance_selector = '{}' OR matches_labels(${of}.instance_selector, i.labels), true)`,
  ),
].join(' AND ')

/**
 * Takes targets that this instance is to probe now. Only targets with selectors that the instance matches count. Until the probe is
 * due again, no other instance gets them. `may_login`: the instance held a lease for the target within the last day, so it
 * already knows the credentials.
 */
export const takeDue = statement({
  name: 'executor-bridge.probes.take-due',
  parameters: { instance_id: uuid, interval_seconds: float8, limit: int8 },
  row: {
    id: uuid,
    connection: jsonb<Extract<StoredConnection, { type: 'ssh' }>>(),
    connection_secrets: nullable(text),
    pinned_host_key: nullable(text),
    may_login: bool,
  },
  sql: `WITH online AS (
      SELECT id, labels, tenant_id FROM instances WHERE removed_at IS NULL AND last_heartbeat_at > now() - interval '${LOST_AFTER}'
    ), due AS (
      SELECT t.id FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
        ${RECORDS}
        JOIN instances i ON i.id = :instance_id
       WHERE t.enabled AND t.connection ->> 'type' = 'ssh' AND (f.next_probe_at IS NULL OR f.next_probe_at <= now())
         AND (f.last_seen_at IS NULL OR f.last_seen_at <= now() - :interval_seconds * interval '0.5 s')
         AND ${MATCHES}
         AND (f.probe_by IS NULL OR f.probe_by = :instance_id
              OR NOT EXISTS (SELECT FROM online i WHERE i.id = f.probe_by AND ${MATCHES}))
         AND (f.missed_by IS DISTINCT FROM :instance_id
              OR NOT EXISTS (SELECT FROM online i WHERE i.id <> :instance_id AND ${MATCHES}))
       ORDER BY f.next_probe_at NULLS FIRST LIMIT :limit
    ), taken AS (
      INSERT INTO target_facts AS f (target_id, next_probe_at, asked_of)
      SELECT id, now() + :interval_seconds * (0.9 + 0.2 * random()) * interval '1 s', :instance_id FROM due ORDER BY id
      ON CONFLICT (target_id) DO UPDATE SET next_probe_at = EXCLUDED.next_probe_at, asked_of = EXCLUDED.asked_of
      WHERE f.next_probe_at IS NULL OR f.next_probe_at <= now()
      RETURNING target_id, host_key)
    SELECT t.id, t.connection, t.connection_secrets, taken.host_key AS pinned_host_key,
           EXISTS (SELECT FROM leases l JOIN deployment_targets dt ON dt.deployment_id = l.deployment_id
                    WHERE l.instance_id = :instance_id AND dt.target_id = t.id
                      AND (l.ended_at IS NULL OR l.ended_at > now() - interval '1 day')) AS may_login
      FROM taken JOIN targets t ON t.id = taken.target_id`,
})

/** Locks the targets of probe results that this instance was asked for, at the same address, and may still probe. */
export const lockAsked = statement({
  name: 'executor-bridge.probes.lock-asked',
  parameters: { instance_id: uuid, probed: rowSet({ id: uuid, host: text, port: int4 }) },
  row: { target_id: uuid },
  sql: `SELECT f.target_id FROM target_facts f
      JOIN :probed AS r ON r.id = f.target_id
      JOIN targets t ON t.id = f.target_id ${RECORDS}
      JOIN instances i ON i.id = :instance_id
     WHERE f.asked_of = :instance_id AND ${MATCHES} AND t.connection ->> 'type' = 'ssh'
       AND t.connection ->> 'host' = r.host AND coalesce((t.connection ->> 'port')::int, 22) = r.port
     ORDER BY f.target_id FOR UPDATE OF f`,
})

/** If another instance has missed a target, the instance that reached it gets the next probes. */
export const endReached = statement({
  name: 'executor-bridge.probes.end-reached',
  parameters: { instance_id: uuid, ids: array(uuid) },
  sql: `UPDATE target_facts SET asked_of = NULL, missed_by = NULL,
           probe_by = CASE WHEN missed_by IS NULL THEN probe_by ELSE :instance_id END
     WHERE target_id = ANY (:ids)`,
})

/** After the first miss, another instance probes the target soon, before the target is shown as stale. */
export const endMissed = statement({
  name: 'executor-bridge.probes.end-missed',
  parameters: { instance_id: uuid, ids: array(uuid), again_seconds: float8 },
  row: { target_id: uuid, first: bool },
  sql: `UPDATE target_facts f SET asked_of = NULL, probe_by = NULL, missed_by = :instance_id, next_probe_at =
           CASE WHEN before.missed_by IS NULL THEN now() + make_interval(secs => :again_seconds) ELSE f.next_probe_at END
      FROM target_facts before
     WHERE before.target_id = f.target_id AND f.target_id = ANY (:ids)
    RETURNING f.target_id, before.missed_by IS NULL AS first`,
})

/**
 * Stores when targets were reached, and pins host keys on first use. Other tenants rely on the host key of a shared target, so an
 * instance of one tenant pins only the keys of the targets of that tenant. Returns the targets that lists now show differently,
 * without local and simulated targets. `SELECT` sees the facts from before `noted`.
 */
export const saveContacts = statement({
  name: 'executor-bridge.probes.save-contacts',
  parameters: { instance_id: nullable(uuid), reached: rowSet({ target_id: uuid, host_key: nullable(text) }) },
  row: { target_id: uuid, tenant_id: nullable(uuid) },
  sql: `WITH reached AS (
      SELECT DISTINCT ON (r.target_id) r.target_id,
             CASE WHEN i.tenant_id IS NULL OR i.tenant_id = t.tenant_id THEN r.host_key END AS host_key
        FROM :reached AS r
        LEFT JOIN targets t ON t.id = r.target_id
        LEFT JOIN instances i ON i.id = :instance_id::uuid
       ORDER BY r.target_id
    ), noted AS (
      INSERT INTO target_facts AS f (target_id, host_key, last_seen_at)
      SELECT target_id, host_key, now() FROM reached ORDER BY target_id
      ON CONFLICT (target_id) DO UPDATE SET
        host_key = coalesce(f.host_key, EXCLUDED.host_key), last_seen_at = EXCLUDED.last_seen_at)
    SELECT t.id AS target_id, t.tenant_id
      FROM reached r
      JOIN targets t ON t.id = r.target_id AND t.connection ->> 'type' NOT IN ('local', 'simulated')
      LEFT JOIN target_facts f ON f.target_id = r.target_id
     WHERE f.last_seen_at IS NULL OR f.last_seen_at <= now() - interval '${REACHED_FOR}'
        OR (f.host_key IS NULL AND r.host_key IS NOT NULL)`,
})

/** Stores why attempts to reach targets failed. The first failure since the last contact gives the time. */
export const saveContactFailures = statement({
  name: 'executor-bridge.probes.save-contact-failures',
  parameters: { missed: rowSet({ target_id: uuid, error: text }) },
  sql: `INSERT INTO target_facts AS f (target_id, last_error, failing_since)
    SELECT target_id, error, now() FROM :missed AS m ORDER BY target_id
    ON CONFLICT (target_id) DO UPDATE SET last_error = EXCLUDED.last_error, failing_since =
      CASE WHEN f.failing_since > coalesce(f.last_seen_at, '-infinity') THEN f.failing_since ELSE now() END`,
})

const CHANGED = `last_seen_at IS NOT NULL AND told_status IS DISTINCT FROM ${targetStatus()}`

/** Targets with another status than the last event. */
export const findStatusChanges = statement({
  name: 'executor-bridge.probes.find-status-changes',
  parameters: { held: array(uuid), limit: int8 },
  row: { target_id: uuid },
  sql: `SELECT target_id FROM target_facts WHERE ${CHANGED} AND target_id <> ALL (:held)
     ORDER BY target_id LIMIT :limit`,
})

/** Stores the status of these targets. `is_unpublished`: no other process sends the event. */
export const saveStatus = statement({
  name: 'executor-bridge.probes.save-status',
  parameters: { ids: array(uuid) },
  row: { target_id: uuid, tenant_id: nullable(uuid), is_unpublished: nullable(bool) },
  sql: `WITH changed AS (
      SELECT target_id, told_status AS before, ${targetStatus()} AS status FROM target_facts
       WHERE ${CHANGED} AND target_id = ANY (:ids)
       ORDER BY target_id FOR UPDATE SKIP LOCKED
    ), noted AS (
      UPDATE target_facts f SET told_status = c.status FROM changed c WHERE f.target_id = c.target_id)
    SELECT c.target_id, t.tenant_id,
           c.status <> 'online' AND c.before IS NOT NULL AND t.connection ->> 'type' NOT IN ('local', 'simulated') AS is_unpublished
      FROM changed c LEFT JOIN targets t ON t.id = c.target_id`,
})
