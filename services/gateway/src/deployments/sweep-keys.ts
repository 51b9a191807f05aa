import { type Database, forAllTenants } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'
import { deleteOldKeys } from './idempotency.sql.ts'

const INTERVAL_MS = 60_000
const BATCH = 5_000

/** Deletes expired idempotency keys. Several gateways may do so at the same time. */
export function startKeySweeper(database: Database, logger: Logger): Ticker {
  const sweep = async () => {
    if ((await deleteOldKeys.run(database, { limit: BATCH })) === BATCH) await sweep()
  }
  return createTicker({ name: 'idempotency-keys', intervalMs: INTERVAL_MS, logger, run: () => forAllTenants(sweep) })
}
