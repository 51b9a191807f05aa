import type { Database } from '@slipway/database'
import { createTicker, type Logger, measure, type Ticker } from '@slipway/runtime'
import { countPartitions, ensurePartition, findDaysToMake } from './partitions.sql.ts'

const DAYS_AHEAD = 2
/** The interval of attempts. With nothing to do, a run costs one query of the catalog for each day. */
const INTERVAL_MS = 10 * 60 * 1000
/** More rows than this are reported as this number: counting must stay cheap. */
const MOST_ROWS = 100_000

/** Creates the partitions of the log in advance. Runs until it is stopped. */
export function keepLogPartitions(database: Database, logger: Logger): Ticker {
  measureLogPartitions(database)
  return createTicker({
    name: 'log-partitions',
    intervalMs: INTERVAL_MS,
    logger,
    run: () => makeLogPartitions(database, logger),
  })
}

/** Creates the partition of each day by itself. A day that fails is logged and retried, and does not stop the others. */
export async function makeLogPartitions(database: Database, logger: Logger): Promise<void> {
  for (const { day } of await findDaysToMake.all(database, { days_ahead: DAYS_AHEAD })) {
    try {
      const { outcome } = await ensurePartition.one(database, { day })
      if (outcome === 'moved') logger.info('log lines of a day were moved into the partition of that day', { day })
      if (outcome === 'left') {
        logger.warn('too many log lines of a day are in log_chunks_default to move them; they stay there', { day })
      }
    } catch (error) {
      logger.error('the log partition of a day could not be created; its lines go to log_chunks_default', {
        day,
        error,
      })
    }
  }
}

function measureLogPartitions(database: Database): void {
  measure(
    'log_partitions',
    {
      slipway_log_partition_days: {
        help: `Days from today on, up to ${DAYS_AHEAD + 1}, whose log partition exists; 0: today has none`,
      },
      slipway_log_default_rows: {
        help: `Rows of log lines in the default partition, because their day had none; up to ${MOST_ROWS}`,
      },
    },
    async () => {
      const { days, rows } = await countPartitions.one(database, { days_ahead: DAYS_AHEAD, most_rows: MOST_ROWS })
      return { slipway_log_partition_days: days, slipway_log_default_rows: rows }
    },
  )
}
