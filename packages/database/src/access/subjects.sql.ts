import type { Binding } from '@slipway/domain'
import { rowSet, statement } from '../sql/statement.ts'
import { array, bool, int8, jsonb, nullable, text, uuid } from '../sql/types.ts'

/** SQL: the roles of the user with this id, with and without scope, as `Binding[]`. */
export const bindingsSql = (userId: string) => `coalesce((
         SELECT jsonb_agg(to_jsonb(b) ORDER BY b.role, b.environment_ids, b.solution_ids)
           FROM (SELECT r.name AS role, r.id AS role_id, coalesce(r.permissions, '{}') AS permissions,
                        NULL::uuid[] AS environment_ids, NULL::uuid[] AS solution_ids
                   FROM user_roles m JOIN roles r ON r.id = m.role_id WHERE m.user_id = ${userId}
                  UNION ALL
                 SELECT r.name, r.id, coalesce(r.permissions, '{}'), m.environment_ids, m.solution_ids
                   FROM role_bindings m JOIN roles r ON r.id = m.role_id WHERE m.user_id = ${userId}) b), '[]')`

export const bindings = jsonb<Binding[]>()

/** The active users of these, by place in the list from 1, with the limits of the API key that each acts with. */
export const findSubjects = statement({
  name: 'database.access.find-subjects',
  parameters: { asked: rowSet({ user_id: uuid, key_id: nullable(uuid) }, 'place') },
  row: {
    place: int8,
    tenant_id: nullable(uuid),
    bindings,
    with_key: bool,
    key_is_gone: bool,
    scopes: array(text),
    environment_ids: nullable(array(uuid)),
    solution_ids: nullable(array(uuid)),
  },
  sql: `SELECT a.place, u.tenant_id, ${bindingsSql('u.id')} AS bindings, a.key_id IS NOT NULL AS with_key,
       a.key_id IS NOT NULL AND k.id IS NULL AS key_is_gone,
       coalesce(k.scopes, '{}') AS scopes, k.environment_ids, k.solution_ids
      FROM :asked AS a
      JOIN users u ON u.id = a.user_id AND u.status = 'active'
      LEFT JOIN api_keys k ON k.id = a.key_id AND k.user_id = u.id`,
})
