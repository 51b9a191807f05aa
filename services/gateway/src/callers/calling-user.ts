import type { CallingKey, StreamCredential } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import type { findUserOfSession } from './calling-user.sql.ts'

/** The user of a request, with the credential and the client address of the request. */
export interface CallingUser extends UserWithRoles {
  credential: StreamCredential
  /** The API key of the request; undefined in a session. */
  api_key?: CallingKey
  client_ip: string
}

export type UserWithRoles = Omit<RowOf<typeof findUserOfSession>, 'session_is_valid'>

export const normalizeEmail = (email: string) => email.trim().toLowerCase()

export const messageCaller = ({ user_id, username, tenant_id, roles, client_ip }: CallingUser) => ({
  user_id,
  username,
  tenant_id,
  roles,
  ip: client_ip,
})

export const userRecord = (user: UserWithRoles) => ({
  id: user.user_id,
  email: user.email,
  username: user.username,
  display_name: user.display_name,
  status: user.status,
  roles: user.roles,
  permissions: user.permissions,
  created_at: user.created_at.toISOString(),
})

export const currentUserRecord = (user: CallingUser) => ({
  ...userRecord(user),
  tenant_id: user.tenant_id,
  email_verified: user.email_verified,
  two_factor_enabled: user.totp_enabled,
  last_login_at: user.last_login_at?.toISOString() ?? null,
  api_key_id: user.api_key?.id ?? null,
  api_key_name: user.api_key?.name ?? null,
})
