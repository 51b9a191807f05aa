import { bool, int4, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { VALID_SESSION } from '../callers/calling-user.sql.ts'

/** The lifetime of a refresh token. */
export const REFRESH_TOKEN_DAYS = 30
const IN_FULL = `now() + interval '${REFRESH_TOKEN_DAYS} days'`

export const deleteEndedSessions = statement({
  name: 'gateway.sessions.delete-ended',
  parameters: { user_id: uuid },
  sql: 'DELETE FROM sessions WHERE user_id = :user_id AND expires_at < now()',
})

/** From where and with what a session is used. */
const PLACE = { client_ip: text, user_agent: nullable(text) }

/** A session with its first refresh token. */
export const insertSession = statement({
  name: 'gateway.sessions.insert',
  parameters: {
    id: uuid,
    user_id: uuid,
    token_version: int4,
    token_hash: text,
    identity_provider: nullable(text),
    ...PLACE,
  },
  sql: `WITH session AS (
      INSERT INTO sessions (id, user_id, token_version, identity_provider, expires_at, last_used_at, client_ip, user_agent)
      VALUES (:id, :user_id, :token_version, :identity_provider, ${IN_FULL}, now(), :client_ip, :user_agent) RETURNING id, user_id, expires_at)
    INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
    SELECT :token_hash, id, user_id, expires_at FROM session`,
})

/** Replaces a refresh token. Only one of several concurrent calls succeeds, because one statement decides. */
export const rotateToken = statement({
  name: 'gateway.sessions.rotate-token',
  parameters: { token_hash: text, next_hash: text, ...PLACE },
  row: { user_id: uuid, session_id: uuid },
  sql: `WITH spent AS (
      UPDATE refresh_tokens t SET rotated_at = clock_timestamp()
        FROM sessions s, users u
       WHERE t.token_hash = :token_hash AND t.rotated_at IS NULL AND t.expires_at > now()
         AND s.id = t.family_id AND ${VALID_SESSION} AND u.status = 'active'
      RETURNING t.family_id, t.user_id, ${IN_FULL} AS expires_at),
    extended AS (
      UPDATE sessions SET expires_at = spent.expires_at, last_used_at = now(), client_ip = :client_ip, user_agent = :user_agent
        FROM spent WHERE id = spent.family_id),
    cleared AS (
      DELETE FROM refresh_tokens t USING spent WHERE t.family_id = spent.family_id AND t.expires_at < now())
    INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
    SELECT :next_hash, family_id, user_id, expires_at FROM spent
    RETURNING user_id, family_id AS session_id`,
})

/**
 * Ends the session of a refresh token that is used a second time, which suggests theft. The first 10 s are excepted, because two
 * tabs of a browser may send the same cookie at once.
 */
export const revokeReusedToken = statement({
  name: 'gateway.sessions.revoke-reused-token',
  parameters: { token_hash: text },
  row: { user_id: uuid, session_id: uuid },
  sql: `UPDATE sessions s SET revoked_at = now() FROM refresh_tokens t
     WHERE t.token_hash = :token_hash AND s.id = t.family_id AND s.revoked_at IS NULL
       AND t.rotated_at < clock_timestamp() - interval '10 seconds'
    RETURNING s.user_id, s.id AS session_id`,
})

export const findSessions = statement({
  name: 'gateway.sessions.find-of-user',
  parameters: { user_id: uuid, session_id: uuid },
  row: {
    id: uuid,
    is_current: bool,
    created_at: timestamptz,
    last_used_at: nullable(timestamptz),
    expires_at: timestamptz,
    client_ip: nullable(text),
    user_agent: nullable(text),
  },
  sql: `SELECT s.id, s.id = :session_id AS is_current, s.created_at, s.last_used_at, s.expires_at, s.client_ip, s.user_agent
      FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE u.id = :user_id AND ${VALID_SESSION} ORDER BY coalesce(s.last_used_at, s.created_at) DESC, s.id DESC`,
})

/** Ends a session. Returns no row if it has ended before or is of another user. */
export const revokeSession = statement({
  name: 'gateway.sessions.revoke',
  parameters: { id: uuid, user_id: uuid },
  row: { id: uuid },
  sql: `UPDATE sessions s SET revoked_at = now() FROM users u
     WHERE s.id = :id AND u.id = :user_id AND ${VALID_SESSION} RETURNING s.id`,
})

/** Changes the password, if it is still the old one, and raises the version, which ends all sessions. */
export const changePassword = statement({
  name: 'gateway.sessions.change-password',
  parameters: { user_id: uuid, old_hash: text, new_hash: text },
  row: { token_version: int4 },
  sql: `UPDATE users SET password_hash = :new_hash, token_version = token_version + 1, updated_at = now()
     WHERE id = :user_id AND password_hash = :old_hash RETURNING token_version`,
})

/** Keeps one session that was valid before the version was raised. */
export const keepSession = statement({
  name: 'gateway.sessions.keep',
  parameters: { id: uuid, token_version: int4 },
  sql: 'UPDATE sessions SET token_version = :token_version WHERE id = :id AND token_version = :token_version - 1',
})

/** Locks the user, so that the sessions of this version go on until the transaction ends. Returns no row if they have ended. */
export const holdTokenVersion = statement({
  name: 'gateway.sessions.hold-token-version',
  parameters: { user_id: uuid, token_version: int4 },
  row: { id: uuid },
  sql: 'SELECT id FROM users WHERE id = :user_id AND token_version = :token_version FOR SHARE',
})

/** Raises the version of a user, which ends all sessions and tokens. */
export const raiseTokenVersion = statement({
  name: 'gateway.sessions.raise-token-version',
  parameters: { user_id: uuid },
  sql: 'UPDATE users SET token_version = token_version + 1 WHERE id = :user_id',
})

export const noteLogin = statement({
  name: 'gateway.sessions.note-login',
  parameters: { user_id: uuid },
  sql: 'UPDATE users SET last_login_at = now() WHERE id = :user_id',
})
