import { ADMIN_ROLE, type CallingKey, type StreamCredential } from '@slipway/contracts'
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

/** The role of the user counts, not only the permission: a role of their own makes nobody an administrator. */
export const mayOverrideFreezes = ({ roles, permissions }: CallingUser) =>
  roles.includes(ADMIN_ROLE) && permissions.includes('deployments:override')

/** The caller as freezes judge it. */
export const freezeCaller = (caller: CallingUser) => ({
  tenant_id: caller.tenant_id,
  may_override_freezes: mayOverrideFreezes(caller),
})

/** The caller as a reader of pending requests. */
export const pendingViewer = (caller: CallingUser) => ({
  ...freezeCaller(caller),
  approver: {
    user_id: caller.user_id,
    may_approve: caller.permissions.includes('deployments:approve'),
    role_ids: caller.role_ids,
  },
})

export const messageCaller = (caller: CallingUser) => ({
  user_id: caller.user_id,
  username: caller.username,
  ...freezeCaller(caller),
  ip: caller.client_ip,
})

export const userRecord = (user: UserWithRoles) => ({
  id: user.user_id,
  kind: user.kind,
  email: user.email,
  username: user.username,
  display_name: user.display_name,
  status: user.status,
  roles: user.roles,
  permissions: user.permissions,
  identity: user.identity,
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
