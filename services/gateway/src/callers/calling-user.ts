import type { StreamCredential } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

/** The user behind a request, what they showed, and where the request came from. */
export interface CallingUser extends KnownUser {
  credential: StreamCredential
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
  token_version: number
  email_verified: boolean
  created_at: Date
  last_login_at: Date | null
}

/** What only the checks of a login need. */
export interface LoginUser extends KnownUser {
  password_hash: string
  totp_enabled: boolean
  totp_sealed: string | null
}

const COLUMNS = `
  u.id AS user_id, u.username, u.email, u.display_name, u.status, u.tenant_id, u.token_version, u.email_verified,
  u.created_at, u.last_login_at,
  ARRAY(SELECT r.name FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id ORDER BY 1) AS roles,
  ARRAY(SELECT DISTINCT p FROM user_roles ur JOIN roles r ON r.id = ur.role_id, unnest(r.permissions) p
        WHERE ur.user_id = u.id ORDER BY 1) AS permissions`

const LOGIN_COLUMNS = `${COLUMNS}, u.password_hash, u.totp_enabled, u.totp_sealed`

/** Whether a session is good: the one rule, for `sessions s` of `users u`. */
export const LIVING_SESSION = `s.user_id = u.id AND s.token_version = u.token_version AND s.revoked_at IS NULL
  AND s.expires_at > now()`

/** One query: role changes, suspension and the end of the session take effect with the next request. */
export async function findUserOfSession(
  db: Queryable,
  { user_id, session_id }: { user_id: string; session_id: string },
): Promise<(KnownUser & { session_lives: boolean }) | null> {
  const { rows } = await db.query<KnownUser & { session_lives: boolean }>(
    `SELECT ${COLUMNS}, EXISTS (SELECT FROM sessions s WHERE s.id = $2 AND ${LIVING_SESSION}) AS session_lives
     FROM users u WHERE u.id = $1`,
    [user_id, session_id],
  )
  return rows[0] ?? null
}

export interface KeyUser extends KnownUser {
  key_id: string
  scopes: string[]
  key_expired: boolean
  /** Whether its last use was noted a minute ago or earlier, or came from another address. */
  use_is_due: boolean
}

/** The user of an API key with all that they may do; the key's scopes stand beside it. One query. */
export async function findUserOfKey(db: Queryable, keyHash: string, clientIp: string): Promise<KeyUser | null> {
  const { rows } = await db.query<KeyUser>(
    `SELECT ${COLUMNS}, k.id AS key_id, k.scopes, coalesce(k.expires_at <= now(), false) AS key_expired,
       coalesce(k.last_used_at < now() - interval '1 minute', true) OR k.last_used_ip IS DISTINCT FROM $2 AS use_is_due
     FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.key_hash = $1`,
    [keyHash, clientIp],
  )
  return rows[0] ?? null
}

export async function findUserById(db: Queryable, id: string): Promise<LoginUser | null> {
  const { rows } = await db.query<LoginUser>(`SELECT ${LOGIN_COLUMNS} FROM users u WHERE u.id = $1`, [id])
  return rows[0] ?? null
}

export async function findUserByEmail(db: Queryable, email: string): Promise<LoginUser | null> {
  const { rows } = await db.query<LoginUser>(`SELECT ${LOGIN_COLUMNS} FROM users u WHERE u.email = $1`, [
    normalizeEmail(email),
  ])
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
