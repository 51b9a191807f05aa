import type { Database } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'

const DAYS_AHEAD = 2
/** Oftener than daily: a failure then has hours to pass before a day without partition begins. */
const INTERVAL_MS = 6 * 60 * 60 * 1000

/** Keeps partitions of the log made ahead, from now on. */
export function keepLogPartitions(database: Database, logger: Logger): Ticker {
  return createTicker({
    name: 'log-partitions',
    intervalMs: INTERVAL_MS,
    logger,
    run: () => database.query('SELECT ensure_log_partitions($1)', [DAYS_AHEAD]),
  })
}
