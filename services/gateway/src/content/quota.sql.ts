import { int8, LOCK_KEYS, nullable, statement, uuid } from '@slipway/database'

/** Not IS NOT DISTINCT FROM, which Postgres does not look up in an index. */
const OF_TENANT = '(tenant_id = :tenant_id OR (:tenant_id::uuid IS NULL AND tenant_id IS NULL))'

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

/**
 * The bytes that count toward the limit of a tenant: its content, and what its uploads have reserved. 100,000 contents take 13 ms.
 */
export const sumUsageOfTenant = statement({
  name: 'gateway.content.sum-usage-of-tenant',
  parameters: { tenant_id: nullable(uuid) },
  row: { bytes: int8 },
  sql: `SELECT (SELECT coalesce(sum(size), 0)::bigint FROM content_tenants WHERE ${OF_TENANT})
       + (SELECT coalesce(sum(reserved_bytes), 0)::bigint FROM content_uploads WHERE reserved_bytes > 0 AND ${OF_TENANT}) AS bytes`,
})

/** The bytes that count toward the total limit. 100,000 contents take 20 ms. */
export const sumUsage = statement({
  name: 'gateway.content.sum-usage',
  row: { bytes: int8 },
  sql: `SELECT (SELECT coalesce(sum(size), 0)::bigint FROM contents)
       + (SELECT coalesce(sum(reserved_bytes), 0)::bigint FROM content_uploads WHERE reserved_bytes > 0) AS bytes`,
})

/** The largest size of the tenant's content that an upload of this length may repeat; 0 if there is none. */
export const findLongestKnown = statement({
  name: 'gateway.content.find-longest-known',
  parameters: { tenant_id: nullable(uuid), length: nullable(int8) },
  row: { size: int8 },
  sql: `SELECT coalesce(max(size), 0) AS size FROM content_tenants
     WHERE ${OF_TENANT} AND (:length::bigint IS NULL OR size = :length)`,
})
