import { statement } from './sql/statement.ts'
import { array, int8, nullable, text, uuid } from './sql/types.ts'

const BATCH = 1_000

/** Fills the keys of a table whose names are unique among the rows with the same values of `scope`. */
function statementsOf(table: string, { name = 'name', scope = [] }: { name?: string; scope?: readonly string[] } = {}) {
  const label = table.replaceAll('_', '-')
  const ofGroup = [...scope.map((column) => `r.${column}`), 'g.key']
  const isSameGroup = scope.map((column) => `o.${column} IS NOT DISTINCT FROM t.${column} AND `).join('')
  return {
    find: statement({
      name: `database.name-keys.find-${label}`,
      parameters: { after: nullable(uuid) },
      row: { id: uuid, name: text },
      sql: `SELECT id, ${name} AS name FROM ${table}
         WHERE name_key IS NULL AND (:after::uuid IS NULL OR id > :after) ORDER BY id LIMIT ${BATCH}`,
    }),
    // The first of several names with one key gets it. The names of the others stay as they are, without a key.
    fill: statement({
      name: `database.name-keys.fill-${label}`,
      parameters: { ids: array(uuid), names: array(text), keys: array(text) },
      row: { filled: int8 },
      sql: `WITH first AS (
          SELECT DISTINCT ON (${ofGroup.join(', ')}) g.id, g.name, g.key
            FROM unnest(:ids::uuid[], :names::text[], :keys::text[]) AS g (id, name, key) JOIN ${table} r ON r.id = g.id
           ORDER BY ${ofGroup.join(', ')}, r.created_at, g.id
        ), filled AS (
          UPDATE ${table} t SET name_key = f.key FROM first f
           WHERE t.id = f.id AND t.${name} = f.name AND t.name_key IS NULL
             AND NOT EXISTS (SELECT FROM ${table} o WHERE ${isSameGroup}o.name_key = f.key)
          RETURNING t.id)
        SELECT count(*) AS filled FROM filled`,
    }),
  }
}

export const NAMED_TABLES = {
  tenants: statementsOf('tenants'),
  environments: statementsOf('environments', { scope: ['tenant_id'] }),
  targets: statementsOf('targets', { scope: ['tenant_id'] }),
  sources: statementsOf('sources', { scope: ['kind', 'tenant_id'] }),
  freezes: statementsOf('freezes', { scope: ['tenant_id'] }),
  roles: statementsOf('roles'),
  users: statementsOf('users', { name: 'username' }),
  instances: statementsOf('instances'),
}
