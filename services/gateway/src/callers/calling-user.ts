import type { CallingKey, StreamCredential } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import { type KeyLimits, may, permissionsOf, type Subject } from '@slipway/domain'
import type { findUserOfSession } from './calling-user.sql.ts'
import { shownBindings } from './shown-bindings.ts'

/** The user of a request, with the credential and the client address of the request. */
export interface CallingUser extends UserWithRoles {
  /** What the API key of the request leaves of the rights of the user; null: there is no key. */
  key: KeyLimits | null
  credential: StreamCredential
  /** The API key of the request; undefined in a session. */
  api_key?: CallingKey
  client_ip: string
}

export type UserWithRoles = Omit<RowOf<typeof findUserOfSession>, 'session_is_valid'>

/** What the user may do, without the limits of an API key. */
export const subjectOf = ({ bindings }: UserWithRoles): Subject => ({ bindings, key: null })

export const normalizeEmail = (email: string) => email.trim().toLowerCase()

/** The caller as freezes judge it. */
export const freezeCaller = (caller: CallingUser) => ({
  tenant_id: caller.tenant_id,
  may_override_freezes: may(caller, 'deployments:override').allowed,
})

/** The caller as a reader of pending requests. */
export const pendingViewer = (caller: CallingUser) => ({
  ...freezeCaller(caller),
  approver: { user_id: caller.user_id, subject: caller },
})

export const messageCaller = (caller: CallingUser) => ({
  user_id: caller.user_id,
  username: caller.username,
  ...freezeCaller(caller),
  ...(caller.api_key === undefined ? {} : { key_id: caller.api_key.id, key_name: caller.api_key.name }),
  ip: caller.client_ip,
})

export const userRecord = (user: UserWithRoles, subject: Subject = subjectOf(user)) => ({
  id: user.user_id,
  kind: user.kind,
  email: user.email,
  username: user.username,
  display_name: user.display_name,
  status: user.status,
  identity: user.identity,
  ...shownBindings(user.bindings),
  permissions: permissionsOf(subject),
  created_at: user.created_at.toISOString(),
})

export const currentUserRecord = (user: CallingUser) => ({
  ...userRecord(user, user),
  tenant_id: user.tenant_id,
  email_verified: user.email_verified,
  two_factor_enabled: user.totp_enabled,
  last_login_at: user.last_login_at?.toISOString() ?? null,
  api_key_id: user.api_key?.id ?? null,
  api_key_name: user.api_key?.name ?? null,
})
