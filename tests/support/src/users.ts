import type { Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'

/** Adds a user with a role that has these permissions. Returns the ids. */
export async function addUser(
  db: Queryable,
  { user_id = uuidv7(), username, permissions, scope }: TestUser,
): Promise<{ user_id: string; role_id: string }> {
  const role_id = uuidv7()
  await db.query(`INSERT INTO users (id, email, username, password_hash) VALUES ($1, $2 || '@example.com', $2, 'x')`, [
    user_id,
    username,
  ])
  await db.query('INSERT INTO roles (id, name, permissions) VALUES ($1, $2, $3)', [role_id, username, permissions])
  if (scope === undefined) {
    await db.query('INSERT INTO user_roles (user_id, role_id) VALUES ($1, $2)', [user_id, role_id])
  } else {
    await db.query(
      `INSERT INTO role_bindings (id, user_id, role_id, environment_ids, solution_ids) VALUES ($1, $2, $3, $4, $5)`,
      [uuidv7(), user_id, role_id, scope.environment_ids, scope.solution_ids],
    )
  }
  return { user_id, role_id }
}

interface TestUser {
  user_id?: string
  /** Also the name of the role. */
  username: string
  permissions: readonly string[]
  /** Null: no limit. */
  scope?: { environment_ids: string[] | null; solution_ids: string[] | null }
}

/** Adds a user with the role admin, once. */
export async function addAdmin(db: Queryable, user_id: string, username: string): Promise<void> {
  await db.query(
    `INSERT INTO users (id, email, username, password_hash) VALUES ($1, $2 || '@example.com', $2, 'x') ON CONFLICT DO NOTHING`,
    [user_id, username],
  )
  await db.query(
    `INSERT INTO roles (id, name, permissions) VALUES ($1, 'admin', '{deployments:create,deployments:override,deployments:approve}')
     ON CONFLICT DO NOTHING`,
    [uuidv7()],
  )
  await db.query(
    `INSERT INTO user_roles (user_id, role_id) SELECT $1, id FROM roles WHERE name = 'admin' ON CONFLICT DO NOTHING`,
    [user_id],
  )
}
