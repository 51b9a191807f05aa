import type { Database } from '@slipway/database'
import { fullJitter } from '@slipway/runtime'
import type { Outcome } from './attempt.ts'
import type { Claimed } from './claim.ts'
import { countTimeout, disableWebhook, finishDelivery, forgetTimeouts } from './webhooks.sql.ts'

const BASE_MS = 5_000
const CAP_MS = 2 * 60 * 60 * 1_000

/** 5 s, doubled with every attempt up to 2 h. The second half is random. Longer if the receiver asks for it. */
function delayMs(attempts: number, retryAfter: number | null): number {
  const half = { baseMs: BASE_MS / 2, capMs: CAP_MS / 2 }
  const fixed = Math.min(half.capMs, half.baseMs * 2 ** Math.min(attempts - 1, 30))
  return Math.max(fixed + fullJitter(attempts, half), Math.min(CAP_MS, (retryAfter ?? 0) * 1_000))
}

export type Finished = 'delivered' | 'again' | 'given_up' | 'gone' | 'lost'

/**
 * Stores the outcome of an attempt. `lost`: the claim has expired, and another dispatcher has the delivery. If the receiver is
 * gone, its webhook is disabled, unless it has another URL by now.
 */
export function finish(database: Database, claimed: Claimed, outcome: Outcome): Promise<Finished> {
  return database.transaction(async (tx) => {
    const row = await finishDelivery.first(tx, {
      id: claimed.id,
      claim: claimed.claim,
      result: outcome.result,
      delay_seconds: delayMs(claimed.attempts, outcome.retry_after) / 1_000,
      response_status: outcome.response_status,
      response_body: outcome.response_body,
      error: outcome.error,
    })
    if (row === null) return 'lost'
    const webhook = { id: claimed.webhook_id, url: claimed.url }
    await (outcome.timed_out ? countTimeout : forgetTimeouts).run(tx, webhook)
    if (outcome.result === 'gone') {
      const reason = 'The receiver answered 410: it wants no more deliveries'
      await disableWebhook.run(tx, { ...webhook, reason })
      return 'gone'
    }
    return row.status === 'delivered' ? 'delivered' : row.status === 'failed' ? 'given_up' : 'again'
  })
}
