import type { Queryable } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import { LIVING_SESSION } from '../callers/calling-user.ts'
import { announceRevocation } from './revocation.ts'

export const REFRESH_TOKEN_DAYS = 30
/** Two tabs may send the same cookie at once; the one that comes second within this time is not a thief. */
const RACE_SECONDS = 10

export interface RefreshedSession {
  user_id: string
  session_id: string
  refresh_token: string
}

/** Opens a session with its first refresh token. Sessions of the user that have long ended are cleared away. */
export async function openSession(
  tx: Pick<Queryable, 'query'>,
  user: { user_id: string; token_version: number },
): Promise<RefreshedSession> {
  const sessionId = uuidv7()
  const refreshToken = randomToken()
  await tx.query('DELETE FROM sessions WHERE user_id = $1 AND expires_at < now()', [user.user_id])
  await tx.query(
    `WITH session AS (
       INSERT INTO sessions (id, user_id, token_version, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(days => $5)) RETURNING id, user_id, expires_at)
     INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
     SELECT $4, id, user_id, expires_at FROM session`,
    [sessionId, user.user_id, user.token_version, hashToken(refreshToken), REFRESH_TOKEN_DAYS],
  )
  return { user_id: user.user_id, session_id: sessionId, refresh_token: refreshToken }
}

/**
 * Puts a new refresh token in the place of this one. One statement decides, so that of many at once one succeeds.
 * Null when the token is not good (any more).
 */
export async function rotateRefreshToken(
  tx: Pick<Queryable, 'query'>,
  refreshToken: string,
): Promise<RefreshedSession | null> {
  const next = randomToken()
  const { rows } = await tx.query<{ user_id: string; session_id: string }>(
    `WITH spent AS (
       UPDATE refresh_tokens t SET rotated_at = clock_timestamp()
       FROM sessions s, users u
       WHERE t.token_hash = $1 AND t.rotated_at IS NULL AND t.expires_at > now()
         AND s.id = t.family_id AND ${LIVING_SESSION} AND u.status = 'active'
       RETURNING t.family_id, t.user_id, now() + make_interval(days => $3) AS expires_at),
     extended AS (
       UPDATE sessions SET expires_at = spent.expires_at FROM spent WHERE id = spent.family_id),
     cleared AS (
       DELETE FROM refresh_tokens t USING spent WHERE t.family_id = spent.family_id AND t.expires_at < now())
     INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
     SELECT $2, family_id, user_id, expires_at FROM spent
     RETURNING user_id, family_id AS session_id`,
    [hashToken(refreshToken), hashToken(next), REFRESH_TOKEN_DAYS],
  )
  const [row] = rows
  return row === undefined ? null : { ...row, refresh_token: next }
}

/**
 * Ends the session of a refresh token that was used before: either the thief or the owner holds its successor. Tells
 * whose session it ended, or null when there was nothing to end: an unknown token, or the loser of a race.
 */
export async function revokeReused(
  tx: Pick<Queryable, 'query'>,
  refreshToken: string,
): Promise<{ user_id: string; session_id: string } | null> {
  const { rows } = await tx.query<{ user_id: string; session_id: string }>(
    `UPDATE sessions s SET revoked_at = now() FROM refresh_tokens t
     WHERE t.token_hash = $1 AND s.id = t.family_id AND s.revoked_at IS NULL
       AND t.rotated_at < clock_timestamp() - make_interval(secs => $2)
     RETURNING s.user_id, s.id AS session_id`,
    [hashToken(refreshToken), RACE_SECONDS],
  )
  const [ended] = rows
  if (ended === undefined) return null
  await announceRevocation(tx, ended.user_id)
  return ended
}

/**
 * Sets a new password and ends all sessions but the one that asked, if that is still good.
 * @throws Problem INVALID_CREDENTIALS when the password was changed meanwhile
 */
export async function replacePassword(
  tx: Pick<Queryable, 'query'>,
  change: { user_id: string; session_id: string; old_hash: string; new_hash: string },
): Promise<void> {
  const { rows } = await tx.query<{ token_version: number }>(
    `UPDATE users SET password_hash = $3, token_version = token_version + 1, updated_at = now()
     WHERE id = $1 AND password_hash = $2 RETURNING token_version`,
    [change.user_id, change.old_hash, change.new_hash],
  )
  const [user] = rows
  if (user === undefined) throw new Problem('INVALID_CREDENTIALS', 'The current password is wrong')
  await tx.query('UPDATE sessions SET token_version = $2 WHERE id = $1 AND token_version = $2 - 1', [
    change.session_id,
    user.token_version,
  ])
  await announceRevocation(tx, change.user_id)
}
