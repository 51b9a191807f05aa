import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { raiseTokenVersion } from './sessions.sql.ts'

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
