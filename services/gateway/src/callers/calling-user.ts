import type { StreamCredential } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import type { findUserOfSession } from './calling-user.sql.ts'

/** The user behind a request, what they showed, and where the request came from. */
export interface CallingUser extends KnownUser {
  credential: StreamCredential
  client_ip: string
}

/** A user with its roles, as it is at this moment. Without a tenant it sees all. */
export type KnownUser = Omit<RowOf<typeof findUserOfSession>, 'session_lives'>

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
