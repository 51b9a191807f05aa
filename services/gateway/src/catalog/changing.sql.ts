import { statement, uuid } from '@slipway/database'

const lock = (table: string) =>
  statement({
    name: `gateway.catalog.lock-${table}`,
    parameters: { id: uuid },
    sql: `SELECT FROM ${table} WHERE id = :id FOR UPDATE`,
  })

export const LOCKS = {
  environments: lock('environments'),
  freezes: lock('freezes'),
  roles: lock('roles'),
  sources: lock('sources'),
  targets: lock('targets'),
  tenants: lock('tenants'),
  users: lock('users'),
  webhooks: lock('webhooks'),
}
