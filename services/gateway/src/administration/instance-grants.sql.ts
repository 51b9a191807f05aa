import { bool, float8, int4, jsonb, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'

const row = {
  id: uuid,
  uses: int4,
  used: int4,
  labels: jsonb<Record<string, string | null>>(),
  tenant_id: nullable(uuid),
  expires_at: timestamptz,
  created_by: nullable(uuid),
  created_at: timestamptz,
  expired: bool,
}
const COLUMNS = `id, uses, used, labels, tenant_id, expires_at, created_by, created_at, expires_at <= now() AS expired`

export const findGrants = statement({
  name: 'gateway.instance-grants.find-page',
  parameters: pageColumns,
  row,
  sql: `SELECT ${COLUMNS} FROM instance_grants g WHERE ${afterNewerSql('g')} ORDER BY created_at DESC, id DESC LIMIT :take OFFSET :skip`,
})

export const findGrant = statement({
  name: 'gateway.instance-grants.find',
  parameters: { id: uuid },
  row,
  sql: `SELECT ${COLUMNS} FROM instance_grants WHERE id = :id`,
})

export const deleteGrant = statement({
  name: 'gateway.instance-grants.delete',
  parameters: { id: uuid },
  row,
  sql: `DELETE FROM instance_grants WHERE id = :id RETURNING ${COLUMNS}`,
})

/** Deletes grants that ended 30 days ago. The audit log keeps their records. */
export const deleteOldGrants = statement({
  name: 'gateway.instance-grants.delete-old',
  sql: `DELETE FROM instance_grants WHERE expires_at < now() - interval '30 days'`,
})

export const insertGrant = statement({
  name: 'gateway.instance-grants.insert',
  parameters: {
    id: uuid,
    token_hash: text,
    uses: int4,
    labels: jsonb<Record<string, string | null>>(),
    tenant_id: nullable(uuid),
    seconds: float8,
    created_by: nullable(uuid),
  },
  row,
  sql: `INSERT INTO instance_grants (id, token_hash, uses, labels, tenant_id, expires_at, created_by)
    VALUES (:id, :token_hash, :uses, :labels, :tenant_id, now() + make_interval(secs => :seconds), :created_by)
    RETURNING ${COLUMNS}`,
})
