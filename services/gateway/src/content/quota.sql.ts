import { int8, LOCK_KEYS, nullable, statement, text, uuid } from '@slipway/database'

/** A separate statement, because a statement that waits for the lock has an older snapshot. */
export const lockQuota = statement({
  name: 'gateway.content.lock-quota',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.contentQuota})`,
})

export const reserveBytes = statement({
  name: 'gateway.content.reserve',
  parameters: { upload_id: uuid, bytes: int8 },
  sql: 'UPDATE content_uploads SET reserved_bytes = reserved_bytes + :bytes WHERE id = :upload_id',
})

/** Reads the sums of the tenant and of all content, and replaces the rows of each by one. */
export const foldUsage = statement({
  name: 'gateway.content.fold-usage',
  parameters: { tenant_id: nullable(uuid) },
  row: { scope: text, bytes: int8 },
  sql: `WITH taken AS (
      DELETE FROM content_usage WHERE scope IN ('total', content_scope(:tenant_id)) RETURNING scope, bytes)
    INSERT INTO content_usage (scope, bytes) SELECT scope, sum(bytes) FROM taken GROUP BY scope RETURNING scope, bytes`,
})

/** The largest size of the tenant's content that an upload of this length may repeat; 0 if there is none. */
export const findLongestKnown = statement({
  name: 'gateway.content.find-longest-known',
  parameters: { tenant_id: nullable(uuid), length: nullable(int8) },
  row: { size: int8 },
  sql: `SELECT coalesce(max(size), 0) AS size FROM content_tenants
     WHERE tenant_id IS NOT DISTINCT FROM :tenant_id AND (:length::bigint IS NULL OR size = :length)`,
})

/** The bytes that count toward the total limit. */
export const sumUsage = statement({
  name: 'gateway.content.sum-usage',
  row: { bytes: int8 },
  sql: `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM content_usage WHERE scope = 'total'`,
})
