import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import type { Call } from '../handler.ts'
import {
  changePassword,
  deleteEndedSessions,
  insertSession,
  keepSession,
  raiseTokenVersion,
  revokeReusedToken,
  rotateToken,
} from './sessions.sql.ts'

export interface RefreshedSession {
  user_id: string
  session_id: string
  refresh_token: string
}

/** At most so many characters of a User-Agent header are kept. */
const USER_AGENT_CHARACTERS = 300

/** From where and with what a session is used, so that its user recognises it. */
export interface SessionPlace {
  client_ip: string
  user_agent: string | null
}

export const placeOf = ({ clientIp, headers }: Pick<Call, 'clientIp' | 'headers'>): SessionPlace => ({
  client_ip: clientIp,
  user_agent: headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS) ?? null,
})

/** Opens a session with its first refresh token. Deletes ended sessions of the user. `provider`: null for a login by password. */
export async function openSession(
  tx: Queryable,
  user: { user_id: string; token_version: number },
  place: SessionPlace,
  provider: string | null = null,
): Promise<RefreshedSession> {
  const sessionId = uuidv7()
  const refreshToken = randomToken()
  await deleteEndedSessions.run(tx, user)
  const { user_id, token_version } = user
  const token_hash = hashToken(refreshToken)
  await insertSession.run(tx, {
    id: sessionId,
    user_id,
    token_version,
    token_hash,
    identity_provider: provider,
    ...place,
  })
  return { user_id: user.user_id, session_id: sessionId, refresh_token: refreshToken }
}

/** Replaces a refresh token. Returns null if it is not valid, or a concurrent call has replaced it. */
export async function rotateRefreshToken(
  tx: Queryable,
  refreshToken: string,
  place: SessionPlace,
): Promise<RefreshedSession | null> {
  const next = randomToken()
  const row = await rotateToken.first(tx, { token_hash: hashToken(refreshToken), next_hash: hashToken(next), ...place })
  return row && { ...row, refresh_token: next }
}

/**
 * Ends the session of a refresh token that was used before, because a thief may hold its successor. Returns the ended session, or
 * null for an unknown token and for concurrent use.
 */
export async function revokeReused(
  tx: Queryable,
  refreshToken: string,
): Promise<{ user_id: string; session_id: string } | null> {
  const ended = await revokeReusedToken.first(tx, { token_hash: hashToken(refreshToken) })
  if (ended === null) return null
  await announceRevocation(tx, ended.user_id)
  return ended
}

/**
 * Sets a new password and ends all other sessions.
 * @throws Problem INVALID_CREDENTIALS if the password was changed meanwhile
 */
export async function replacePassword(
  tx: Queryable,
  change: { user_id: string; session_id: string; old_hash: string; new_hash: string },
): Promise<void> {
  const user = await changePassword.first(tx, change)
  if (user === null) throw new Problem('INVALID_CREDENTIALS', 'The current password is wrong')
  await keepSession.run(tx, { id: change.session_id, token_version: user.token_version })
  await announceRevocation(tx, change.user_id)
}

/**
 * Ends every session, pending login, stream token and open stream of a user: all contain the old `token_version`. API keys stay.
 * Call `outboxChanged` after the commit.
 */
export async function revokeUser(tx: Queryable, userId: string): Promise<void> {
  await raiseTokenVersion.run(tx, { user_id: userId })
  await announceRevocation(tx, userId)
}

/** Makes every log-stream service check the streams of the user at once, not at its next check within a second. */
export async function announceRevocation(tx: Queryable, userId: string): Promise<void> {
  await enqueue(tx, [eventMessage('user.revoked', { user_id: userId })])
}
