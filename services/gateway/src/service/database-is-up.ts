import type { Database } from '@slipway/database'
import { type Logger, sleep } from '@slipway/runtime'

const WAIT_MS = 30_000
const INTERVAL_MS = 500

/** Waits for the database at the start, when all servers may be starting together. Throws after 30 s. */
export async function databaseIsUp(database: Database, logger: Logger, signal: AbortSignal): Promise<void> {
  const until = Date.now() + WAIT_MS
  while (!(await database.isUp())) {
    if (Date.now() > until || signal.aborted) {
      throw new Error('The database cannot be reached: check DATABASE_URL and that Postgres runs')
    }
    logger.warn('the database cannot be reached yet, trying again')
    await sleep(INTERVAL_MS, signal)
  }
}
