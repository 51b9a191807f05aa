import { nullable, statement, text, uuid } from '@slipway/database'

/** The record whose name is in the way, the one with exactly this name first. Not the record `except` itself. */
const statementOf = (kind: string, table: string, scope: string) =>
  statement({
    name: `gateway.catalog.name-of-${kind}`,
    parameters: { name: text, key: text, tenant_id: nullable(uuid), except: nullable(uuid) },
    row: { id: uuid, name: text },
    sql: `SELECT id, name FROM ${table}
       WHERE (name = :name OR name_key = :key) AND ${scope} AND (:except::uuid IS NULL OR id <> :except)
       ORDER BY name = :name DESC LIMIT 1`,
  })

const OF_TENANT = 'tenant_id IS NOT DISTINCT FROM :tenant_id::uuid'
const OF_KIND = (kind: string) => `kind = '${kind}' AND ${OF_TENANT}`
/** Of the installation. */
const OF_ALL = ':tenant_id::uuid IS NULL'

export const NAMES = {
  target: statementOf('target', 'targets', OF_TENANT),
  environment: statementOf('environment', 'environments', OF_TENANT),
  freeze: statementOf('freeze', 'freezes', OF_TENANT),
  tenant: statementOf('tenant', 'tenants', OF_ALL),
  role: statementOf('role', 'roles', OF_ALL),
  action: statementOf('action', 'sources', OF_KIND('action')),
  sequence: statementOf('sequence', 'sources', OF_KIND('sequence')),
  solution: statementOf('solution', 'sources', OF_KIND('solution')),
}
