import { bool, int4, LOCK_KEYS_BY_VALUE, nullable, statement, text, uuid } from '@slipway/database'
import { allowedLabels, labels } from '../labels.sql.ts'

export const findGrantToken = statement({
  name: 'executor-bridge.join.find-grant-token',
  parameters: { id: uuid },
  row: { token_hash: text },
  sql: 'SELECT token_hash FROM instance_grants WHERE id = :id',
})

/** Of two joins under one name, the second waits for the first and sees it. */
export const lockName = statement({
  name: 'executor-bridge.join.lock-name',
  parameters: { name: text },
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.instanceName(':name')})`,
})

/** The instance that has the name, see `nameKey`. `unused`: the credential of its join was not used yet. */
export const lockNamed = statement({
  name: 'executor-bridge.join.lock-named',
  parameters: { name: text, key: text },
  row: {
    id: uuid,
    name: text,
    removed: bool,
    unused: bool,
    grant_id: nullable(uuid),
    service_account: nullable(text),
    join_key_hash: nullable(text),
  },
  sql: `SELECT id, name, removed_at IS NOT NULL AS removed, credential_hash = '' AS unused, grant_id, service_account,
           join_key_hash
      FROM instances WHERE name = :name OR name_key = :key ORDER BY name = :name DESC LIMIT 1 FOR UPDATE`,
})

/** Of two joins with the last use of a grant, the second waits for the first and sees it. */
export const lockGrant = statement({
  name: 'executor-bridge.join.lock-grant',
  parameters: { id: uuid },
  row: { labels: allowedLabels, tenant_id: nullable(uuid), expired: bool, used_up: bool },
  sql: `SELECT labels, tenant_id, expires_at <= now() AS expired, used >= uses AS used_up
      FROM instance_grants WHERE id = :id FOR UPDATE`,
})

export const countUse = statement({
  name: 'executor-bridge.join.count-use',
  parameters: { id: uuid },
  sql: 'UPDATE instance_grants SET used = used + 1 WHERE id = :id',
})

/**
 * The credential becomes the current one when it is first used; until then the same join can be repeated. Without a
 * heartbeat an instance gets no runs. An instance with earlier leases keeps its last heartbeat, by which these leases end.
 */
export const saveInstance = statement({
  name: 'executor-bridge.join.save-instance',
  parameters: {
    id: uuid,
    name: text,
    name_key: text,
    version: text,
    capacity: int4,
    labels,
    allowed_labels: allowedLabels,
    tenant_id: nullable(uuid),
    grant_id: nullable(uuid),
    service_account: nullable(text),
    credential_hash: text,
    join_key_hash: nullable(text),
  },
  sql: `INSERT INTO instances AS i (id, name, name_key, version, capacity, labels, enrolled_labels, allowed_labels, tenant_id,
                                grant_id, service_account, credential_hash, next_credential_hash, join_key_hash, enrolled_at)
    VALUES (:id, :name, :name_key,
            :version, :capacity, :labels, :labels, :allowed_labels, :tenant_id,
            :grant_id, :service_account, '', :credential_hash, :join_key_hash, now())
    ON CONFLICT (id) DO UPDATE SET
      name = EXCLUDED.name, name_key = EXCLUDED.name_key, version = EXCLUDED.version, capacity = EXCLUDED.capacity, enrolled_labels = EXCLUDED.enrolled_labels,
      labels = CASE WHEN i.removed_at IS NULL AND i.enrolled_labels = EXCLUDED.enrolled_labels
                    THEN i.labels ELSE EXCLUDED.labels END,
      allowed_labels = EXCLUDED.allowed_labels, tenant_id = EXCLUDED.tenant_id, grant_id = EXCLUDED.grant_id,
      service_account = EXCLUDED.service_account, draining = i.draining AND i.removed_at IS NULL,
      created_at = CASE WHEN i.removed_at IS NULL THEN i.created_at ELSE now() END, removed_at = NULL,
      credential_hash = '', next_credential_hash = EXCLUDED.next_credential_hash, former_credential_hash = NULL,
      former_credential_until = NULL, join_key_hash = EXCLUDED.join_key_hash, enrolled_at = now(),
      last_heartbeat_at = CASE WHEN EXISTS (SELECT FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL)
                               THEN i.last_heartbeat_at END`,
})
