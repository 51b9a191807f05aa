import { nullable, type Queryable, statement, uuid } from '@slipway/database'
import { ownSql, type Viewer } from '@slipway/database/read-models'
import { isUuid, notFound } from '@slipway/domain'

const parameters = { id: uuid, tenant_id: nullable(uuid) }
const row = { id: uuid, tenant_id: nullable(uuid) }

/** The record of this id, if the viewer may see it. */
const VISIBLE = {
  deployment: statement({
    name: 'gateway.deployments.find-visible',
    parameters,
    row,
    sql: `SELECT d.id, d.tenant_id FROM deployments d WHERE d.id = :id AND ${ownSql('d')}`,
  }),
  'pending request': statement({
    name: 'gateway.pending.find-visible',
    parameters,
    row,
    sql: `SELECT r.id, r.tenant_id FROM pending_requests r WHERE r.id = :id AND ${ownSql('r')}`,
  }),
}

/** @throws Problem NOT_FOUND, also for a record that the viewer may not see */
export async function requireVisible(
  db: Queryable,
  { tenant_id }: Viewer,
  kind: keyof typeof VISIBLE,
  id: string,
): Promise<{ id: string; tenant_id: string | null }> {
  const record = isUuid(id) ? await VISIBLE[kind].first(db, { id, tenant_id }) : null
  if (record === null) throw notFound(`The ${kind}`)
  return record
}
