import { type Database, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'

/** How long it is kept what was delivered, or could not be. */
const KEPT_FOR = '7 days'
const BATCH = 1_000

const GIVE_UP = `UPDATE webhook_deliveries
    SET status = 'failed', claim = NULL, error = coalesce(error, 'There was no attempt in time')
  WHERE id IN (SELECT id FROM webhook_deliveries
                WHERE status = 'pending' AND expires_at <= now() AND (claim IS NULL OR next_attempt_at <= now())
                LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

const FORGET = `DELETE FROM webhook_deliveries
  WHERE id IN (SELECT id FROM webhook_deliveries
                WHERE created_at < now() - interval '${KEPT_FOR}' AND status <> 'pending'
                LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/**
 * Gives up what was not delivered in time, for example because its webhook is switched off, and deletes what is old.
 * Neither stops the other. No single row can fail: nothing refers to a delivery, and nothing else checks it.
 */
export async function sweepDeliveries(database: Database, logger: Logger): Promise<void> {
  const parts = new Quarantine({ task: 'sweep-deliveries', logger })
  await parts.each(
    Object.entries({ GIVE_UP, FORGET }),
    ([name]) => name,
    ([, sql]) => inBatches(database, sql),
  )
}

async function inBatches(database: Database, statement: string): Promise<void> {
  for (;;) {
    const { rowCount } = await database.query(statement)
    if ((rowCount ?? 0) < BATCH) return
  }
}
