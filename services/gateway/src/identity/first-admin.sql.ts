import { bool, jsonb, LOCK_KEYS, rowSet, statement, text, uuid } from '@slipway/database'

export const lockSeed = statement({
  name: 'gateway.identity.lock-seed',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.seedIdentity})`,
})

/** Writes built-in roles that are missing, or differ from those of this version. */
export const seedRoles = statement({
  name: 'gateway.identity.seed-roles',
  parameters: {
    roles: rowSet({ id: uuid, name: text, name_key: text, description: text, permissions: jsonb<string[]>() }),
  },
  sql: `INSERT INTO roles AS present (id, name, name_key, description, permissions, built_in)
    SELECT id, name, name_key, description, ARRAY(SELECT jsonb_array_elements_text(permissions)), true FROM :roles AS r
    ON CONFLICT (name) DO UPDATE
      SET description = excluded.description, permissions = excluded.permissions, built_in = true, updated_at = now()
      WHERE (present.description, present.permissions, present.built_in)
        IS DISTINCT FROM (excluded.description, excluded.permissions, true)`,
})

export const hasUsers = statement({
  name: 'gateway.identity.has-users',
  row: { found: bool },
  sql: 'SELECT EXISTS (SELECT FROM users) AS found',
})

export const insertAdmin = statement({
  name: 'gateway.identity.insert-admin',
  parameters: { id: uuid, email: text, username: text, name_key: text, password_hash: text },
  sql: `WITH admin AS (
      INSERT INTO users (id, email, username, name_key, display_name, password_hash, email_verified)
      VALUES (:id, :email, :username, :name_key, 'Administrator', :password_hash, true) RETURNING id)
    INSERT INTO user_roles (user_id, role_id) SELECT admin.id, roles.id FROM admin, roles WHERE roles.name = 'admin'`,
})
