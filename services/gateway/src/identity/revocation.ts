import { enqueue, eventMessage, type Queryable } from '@slipway/database'

type Transaction = Pick<Queryable, 'query'>

/**
 * Ends every session, pending login, stream token and open stream of a user, within the caller's transaction: they all
 * carry the `token_version` that is raised here. API keys stay. Kick the outbox afterwards.
 */
export async function revokeUser(tx: Transaction, userId: string): Promise<void> {
  await tx.query('UPDATE users SET token_version = token_version + 1 WHERE id = $1', [userId])
  await announceRevocation(tx, userId)
}

/** Has the streams of a user looked at by every log-stream. Each looks once a second anyway. */
export async function announceRevocation(tx: Transaction, userId: string): Promise<void> {
  await enqueue(tx as Queryable, [eventMessage('user.revoked', { user_id: userId })])
}
