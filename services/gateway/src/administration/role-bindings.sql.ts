import { array, jsonb, statement, text, uuid } from '@slipway/database'
import type { Scope } from '@slipway/domain'

/** Locks roles until the end of the transaction: a role must not be deleted while it is given. */
export const holdRoles = statement({
  name: 'gateway.role-bindings.hold-roles',
  parameters: { names: array(text) },
  row: { id: uuid, name: text, permissions: array(text) },
  sql: `SELECT id, name, coalesce(permissions, '{}') AS permissions FROM roles WHERE name = ANY (:names)
     ORDER BY id FOR SHARE`,
})

/** What a mistyped name may mean. */
export const listRoleNames = statement({
  name: 'gateway.role-bindings.list-role-names',
  parameters: {},
  row: { name: text },
  sql: `SELECT name FROM roles ORDER BY name LIMIT 1000`,
})

interface StoredBinding extends Scope {
  id: string
  role_id: string
}

/** Replaces the roles of a user. Roles without scope have null in both lists. */
export const replaceBindings = statement({
  name: 'gateway.role-bindings.replace',
  parameters: {
    user_id: uuid,
    given: jsonb<readonly StoredBinding[]>(),
  },
  sql: `WITH given AS (SELECT * FROM jsonb_to_recordset(:given::jsonb)
                           AS g (id uuid, role_id uuid, environment_ids uuid[], solution_ids uuid[])),
      plain AS (SELECT role_id FROM given WHERE environment_ids IS NULL AND solution_ids IS NULL),
      without_roles AS (DELETE FROM user_roles WHERE user_id = :user_id AND role_id NOT IN (SELECT role_id FROM plain)),
      with_roles AS (INSERT INTO user_roles (user_id, role_id) SELECT :user_id, role_id FROM plain ON CONFLICT DO NOTHING),
      without_bindings AS (DELETE FROM role_bindings WHERE user_id = :user_id)
    INSERT INTO role_bindings (id, user_id, role_id, environment_ids, solution_ids)
    SELECT id, :user_id, role_id, environment_ids, solution_ids FROM given
     WHERE environment_ids IS NOT NULL OR solution_ids IS NOT NULL`,
})
