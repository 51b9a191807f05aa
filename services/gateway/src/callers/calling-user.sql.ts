import {
  array,
  bindings,
  bindingsSql,
  bool,
  int4,
  jsonb,
  nullable,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'

/** SQL: a user `u` with the present roles. */
export const USER = {
  row: {
    user_id: uuid,
    kind: text,
    username: text,
    email: nullable(text),
    display_name: nullable(text),
    status: text,
    tenant_id: nullable(uuid),
    token_version: int4,
    email_verified: bool,
    totp_enabled: bool,
    created_at: timestamptz,
    last_login_at: nullable(timestamptz),
    identity: nullable(jsonb<{ provider: string; subject: string }>()),
    bindings,
  },
  columns: `u.id AS user_id, u.kind, u.username, u.email, u.display_name, u.status, u.tenant_id, u.token_version, u.email_verified,
       u.totp_enabled, u.created_at, u.last_login_at,
       (SELECT jsonb_build_object('provider', i.provider, 'subject', i.subject) FROM identities i
         WHERE i.user_id = u.id) AS identity,
       ${bindingsSql('u.id')} AS bindings`,
}

/** SQL: whether the session `s` of the user `u` is valid. The only place with this rule. */
export const VALID_SESSION = `s.user_id = u.id AND s.token_version = u.token_version AND s.revoked_at IS NULL
         AND s.expires_at > now()`

/** Runs for each request, so a change of roles, status or session takes effect at once. */
export const findUserOfSession = statement({
  name: 'gateway.callers.find-user-of-session',
  parameters: { user_id: uuid, session_id: uuid },
  row: { ...USER.row, session_is_valid: bool },
  sql: `SELECT EXISTS (SELECT FROM sessions s WHERE s.id = :session_id AND ${VALID_SESSION}) AS session_is_valid, ${USER.columns}
      FROM users u WHERE u.id = :user_id`,
})

const KEY_LIMITS = {
  row: { scopes: array(text), environment_ids: nullable(array(uuid)), solution_ids: nullable(array(uuid)) },
  columns: `coalesce(k.scopes, '{}') AS scopes, k.environment_ids, k.solution_ids`,
}

/**
 * The user of an API key with all permissions, and the scopes of the key. `use_is_due`: the recorded last use is older than a
 * minute, or came from another address.
 */
export const findUserOfKey = statement({
  name: 'gateway.callers.find-user-of-key',
  parameters: { key_hash: text, client_ip: text },
  row: { ...USER.row, key_id: uuid, key_name: text, key_expired: bool, use_is_due: bool, ...KEY_LIMITS.row },
  sql: `SELECT ${USER.columns}, k.id AS key_id, k.name AS key_name, ${KEY_LIMITS.columns},
       coalesce(k.expires_at <= now(), false) AS key_expired,
       coalesce(k.last_used_at < now() - interval '1 minute', true)
         OR k.last_used_ip IS DISTINCT FROM :client_ip AS use_is_due
      FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.key_hash = :key_hash`,
})

/** The user with the fields that only a login checks. */
const LOGIN = {
  row: { ...USER.row, password_hash: nullable(text), totp_sealed: nullable(text), break_glass: bool },
  columns: `${USER.columns}, u.password_hash, u.totp_sealed, u.break_glass`,
}

export const findUserById = statement({
  name: 'gateway.callers.find-user-by-id',
  parameters: { id: uuid },
  row: LOGIN.row,
  sql: `SELECT ${LOGIN.columns} FROM users u WHERE u.id = :id`,
})

export const findUserByEmail = statement({
  name: 'gateway.callers.find-user-by-email',
  parameters: { email: text },
  row: LOGIN.row,
  sql: `SELECT ${LOGIN.columns} FROM users u WHERE u.email = :email`,
})
