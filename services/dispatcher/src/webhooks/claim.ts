import { type Database, LOCK_KEYS } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'

/** Longer than any attempt. What a dispatcher that died had in hand is due again after this. */
const LEASE = '60 seconds'
/** Attempts at a time for one webhook: a receiver that hangs holds no more. */
export const MAX_PER_WEBHOOK = 4

export interface Claimed {
  id: string
  webhook_id: string
  event: string
  payload: string
  attempts: number
  url: string
  secret_sealed: string
  /** Whoever writes the outcome must still hold it. */
  claim: string
}

/** Takes up to `limit` deliveries that are due, of each webhook the longest due first, and every webhook in turn. */
export function claimDue(database: Database, limit: number): Promise<Claimed[]> {
  return database.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.webhookClaims})`, [])
    const { rows } = await tx.query<Claimed>(
      `WITH next AS MATERIALIZED (
         SELECT n.id
           FROM webhooks w
          CROSS JOIN LATERAL (
            SELECT d.id, row_number() OVER (ORDER BY d.next_attempt_at, d.id) AS place
              FROM webhook_deliveries d
             WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= now() AND d.expires_at > now()
             ORDER BY d.next_attempt_at, d.id
             LIMIT greatest(0, ${MAX_PER_WEBHOOK} - (
               SELECT count(*) FROM webhook_deliveries b
                WHERE b.webhook_id = w.id AND b.claim IS NOT NULL AND b.next_attempt_at > now()))
          ) n
          WHERE w.enabled
          ORDER BY n.place, n.id LIMIT $1
       ), locked AS MATERIALIZED (
         SELECT d.id FROM webhook_deliveries d JOIN next USING (id)
          WHERE d.status = 'pending' AND d.next_attempt_at <= now() FOR UPDATE OF d SKIP LOCKED
       )
       UPDATE webhook_deliveries d
          SET claim = $2, attempts = d.attempts + 1, last_attempt_at = now(), next_attempt_at = now() + interval '${LEASE}'
         FROM locked, webhooks w
        WHERE d.id = locked.id AND w.id = d.webhook_id
       RETURNING d.id, d.webhook_id, d.event, d.payload, d.attempts, d.claim, w.url, w.secret_sealed`,
      [limit, uuidv7()],
    )
    return rows
  })
}
