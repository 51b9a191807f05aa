import type { Database } from '@slipway/database'

/** How long it is kept what was delivered, or could not be. */
const KEPT_FOR = '7 days'
const BATCH = 1_000

/** Gives up what was not delivered in time, its webhook being switched off, say; and forgets what is old. */
export async function sweepDeliveries(database: Database): Promise<void> {
  await inBatches(
    database,
    `UPDATE webhook_deliveries SET status = 'failed', claim = NULL, error = coalesce(error, 'There was no attempt in time')
      WHERE id IN (SELECT id FROM webhook_deliveries
                    WHERE status = 'pending' AND expires_at <= now() AND (claim IS NULL OR next_attempt_at <= now())
                    LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
  )
  await inBatches(
    database,
    `DELETE FROM webhook_deliveries
      WHERE id IN (SELECT id FROM webhook_deliveries
                    WHERE created_at < now() - interval '${KEPT_FOR}' AND status <> 'pending'
                    LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
  )
}

async function inBatches(database: Database, statement: string): Promise<void> {
  for (;;) {
    const { rowCount } = await database.query(statement)
    if ((rowCount ?? 0) < BATCH) return
  }
}
