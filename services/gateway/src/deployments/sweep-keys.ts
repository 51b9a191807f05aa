import { type Database, forAllTenants } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'
import { KEPT } from './idempotency.ts'

const INTERVAL_MS = 60_000
const BATCH = 5_000

/** Removes idempotency keys whose time is over. Any number of gateways may. */
export function startKeySweeper(database: Database, logger: Logger): Ticker {
  const sweep = async () => {
    const { rowCount } = await database.query(
      `DELETE FROM idempotency_keys WHERE (user_id, scope, key) IN (
         SELECT user_id, scope, key FROM idempotency_keys WHERE claimed_at <= now() - interval '${KEPT}'
         ORDER BY claimed_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
    )
    if (rowCount === BATCH) await sweep()
  }
  return createTicker({ name: 'idempotency-keys', intervalMs: INTERVAL_MS, logger, run: () => forAllTenants(sweep) })
}
