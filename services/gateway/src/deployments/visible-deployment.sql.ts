import { nullable, statement, uuid } from '@slipway/database'
import { ownSql } from '@slipway/database/read-models'

const parameters = { id: uuid, tenant_id: nullable(uuid) }
const row = { id: uuid, tenant_id: nullable(uuid) }

/** The record of this id, if the viewer may see it. */
export const VISIBLE = {
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
