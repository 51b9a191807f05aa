import type { Database } from '@slipway/database'
import { fullJitter } from '@slipway/runtime'
import type { Outcome } from './attempt.ts'
import type { Claimed } from './claim.ts'

const BASE_MS = 5_000
const CAP_MS = 2 * 60 * 60 * 1_000

/** 5 s, doubled with every attempt up to 2 h, of which the second half is left to chance; longer where asked for. */
function delayMs(attempts: number, retryAfter: number | null): number {
  const half = { baseMs: BASE_MS / 2, capMs: CAP_MS / 2 }
  const fixed = Math.min(half.capMs, half.baseMs * 2 ** Math.min(attempts - 1, 30))
  return Math.max(fixed + fullJitter(attempts, half), Math.min(CAP_MS, (retryAfter ?? 0) * 1_000))
}

export type Finished = 'delivered' | 'again' | 'given_up' | 'gone' | 'lost'

/**
 * Writes down what came of an attempt. `lost`: the claim ran out, and another dispatcher has it. A receiver that is gone
 * gets nothing more: its webhook is switched off, unless it has another URL by now.
 */
export function finish(database: Database, claimed: Claimed, outcome: Outcome): Promise<Finished> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ status: 'pending' | 'delivered' | 'failed' }>(
      `UPDATE webhook_deliveries
          SET claim = NULL, response_status = $4, response_body = $5, error = $6,
              next_attempt_at = now() + make_interval(secs => $7),
              delivered_at = CASE WHEN $3 = 'delivered' THEN now() END,
              status = CASE WHEN $3 = 'delivered' THEN 'delivered'
                            WHEN $3 = 'gone' OR now() + make_interval(secs => $7) >= expires_at THEN 'failed'
                            ELSE 'pending' END::webhook_delivery_status
        WHERE id = $1 AND claim = $2
       RETURNING status`,
      [
        claimed.id,
        claimed.claim,
        outcome.result,
        outcome.response_status,
        outcome.response_body,
        outcome.error,
        delayMs(claimed.attempts, outcome.retry_after) / 1_000,
      ],
    )
    const [row] = rows
    if (row === undefined) return 'lost'
    if (outcome.result === 'gone') {
      await tx.query(
        `UPDATE webhooks SET enabled = false, disabled_reason = $3, updated_at = now()
          WHERE id = $1 AND url = $2 AND enabled`,
        [claimed.webhook_id, claimed.url, 'The receiver answered 410: it wants no more deliveries'],
      )
      return 'gone'
    }
    return row.status === 'delivered' ? 'delivered' : row.status === 'failed' ? 'given_up' : 'again'
  })
}
