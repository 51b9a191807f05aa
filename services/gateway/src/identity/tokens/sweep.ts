import { type Database, forAllTenants } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'
import { deleteExpiredTokens } from './tokens.sql.ts'

const INTERVAL_MS = 60_000
const BATCH = 5_000

/** Deletes the rows of exchanged tokens that have expired. Several gateways may do so at the same time. */
export function startTokenSweeper(database: Database, logger: Logger): Ticker {
  const sweep = async () => {
    if ((await deleteExpiredTokens.run(database, { limit: BATCH })) === BATCH) await sweep()
  }
  return createTicker({ name: 'exchanged-tokens', intervalMs: INTERVAL_MS, logger, run: () => forAllTenants(sweep) })
}
