import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { raiseTokenVersion } from './sessions.sql.ts'

/**
 * Ends every session, pending login, stream token and open stream of a user, within the caller's transaction: they all
 * carry the `token_version` that is raised here. API keys stay. Kick the outbox afterwards.
 */
export async function revokeUser(tx: Queryable, userId: string): Promise<void> {
  await raiseTokenVersion.run(tx, { user_id: userId })
  await announceRevocation(tx, userId)
}

/** Has the streams of a user looked at by every log-stream. Each looks once a second anyway. */
export async function announceRevocation(tx: Queryable, userId: string): Promise<void> {
  await enqueue(tx, [eventMessage('user.revoked', { user_id: userId })])
}
