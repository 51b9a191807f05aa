import { array, int4, int8, nullable, pendingStatus, statement, uuid } from '@slipway/database'
import { ownSql, PENDING } from '@slipway/database/read-models'

/**
 * Pending requests in the order of their start, then the others. A position counts all pending requests, also those that the
 * viewer cannot see.
 */
export const listRequests = statement({
  name: 'gateway.pending.list',
  parameters: {
    tenant_id: nullable(uuid),
    of_tenant: nullable(uuid),
    of_tenant_number: nullable(int4),
    statuses: array(pendingStatus),
    limit: nullable(int8),
  },
  row: PENDING.row,
  sql: `SELECT ${PENDING.columns}
      FROM (SELECT q.*, w.position, w.pool_position
              FROM pending_requests q LEFT JOIN waiting_places() w ON w.id = q.id) r
     WHERE r.status = ANY (:statuses) AND ${ownSql('r')} AND (:of_tenant::uuid IS NULL OR r.tenant_id = :of_tenant)
       AND (:of_tenant_number::int4 IS NULL OR r.tenant_id = (SELECT id FROM tenants WHERE number = :of_tenant_number))
     ORDER BY r.position NULLS LAST, r.queued_at DESC, r.id DESC LIMIT :limit`,
})
