import type { Queryable } from '@slipway/database'

/** The user behind a request, and where the request came from. */
export interface CallingUser extends KnownUser {
  client_ip: string
}

/** A user with its roles, as it is at this moment. */
export interface KnownUser {
  user_id: string
  username: string
  email: string
  display_name: string | null
  status: string
  /** Null: bound to no tenant, sees all. */
  tenant_id: string | null
  roles: string[]
  permissions: string[]
  email_verified: boolean
  created_at: Date
  last_login_at: Date | null
}

const COLUMNS = `
  u.id AS user_id, u.username, u.email, u.display_name, u.status, u.tenant_id, u.email_verified, u.created_at,
  u.last_login_at,
  ARRAY(SELECT r.name FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id ORDER BY 1) AS roles,
  ARRAY(SELECT DISTINCT p FROM user_roles ur JOIN roles r ON r.id = ur.role_id, unnest(r.permissions) p
        WHERE ur.user_id = u.id ORDER BY 1) AS permissions`

/** One query: role changes and suspension take effect with the next request. */
export async function findUserById(db: Queryable, id: string): Promise<KnownUser | null> {
  const { rows } = await db.query<KnownUser>(`SELECT ${COLUMNS} FROM users u WHERE u.id = $1`, [id])
  return rows[0] ?? null
}

export async function findUserByEmail(
  db: Queryable,
  email: string,
): Promise<(KnownUser & { password_hash: string }) | null> {
  const { rows } = await db.query<KnownUser & { password_hash: string }>(
    `SELECT ${COLUMNS}, u.password_hash FROM users u WHERE u.email = $1`,
    [normalizeEmail(email)],
  )
  return rows[0] ?? null
}

/** Addresses compare without regard to case. */
export const normalizeEmail = (email: string) => email.trim().toLowerCase()

/** The caller as it travels in messages. */
export const messageCaller = ({ user_id, username, tenant_id, roles, client_ip }: CallingUser) => ({
  user_id,
  username,
  tenant_id,
  roles,
  ip: client_ip,
})

/** The user record of the interface. */
export const userRecord = (user: KnownUser) => ({
  id: user.user_id,
  email: user.email,
  username: user.username,
  display_name: user.display_name,
  status: user.status,
  roles: user.roles,
  permissions: user.permissions,
  created_at: user.created_at.toISOString(),
})

export const currentUserRecord = (user: KnownUser) => ({
  ...userRecord(user),
  email_verified: user.email_verified,
  last_login_at: user.last_login_at?.toISOString() ?? null,
})
