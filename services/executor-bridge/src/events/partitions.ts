import { type Database, int4, int8, oneOf, statement, text } from '@slipway/database'
import { createTicker, type Logger, measure, type Ticker } from '@slipway/runtime'

/** The next days, and earlier days with lines in the default partition. */
const findDaysToMake = statement({
  name: 'executor-bridge.partitions.find-days-to-make',
  parameters: { days_ahead: int4 },
  row: { day: text },
  sql: `SELECT day::date::text AS day
      FROM (SELECT generate_series((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + :days_ahead::int,
                                   '1 day') AS day
            UNION
            SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') FROM log_chunks_default WHERE created_at < now()) days
     ORDER BY day DESC`,
})

const ensurePartition = statement({
  name: 'executor-bridge.partitions.ensure',
  parameters: { day: text },
  row: { outcome: oneOf('text', ['exists', 'created', 'moved', 'left', 'busy']) },
  sql: 'SELECT ensure_log_partition(:day::text::date) AS outcome',
})

/** How many days from today on have a partition, and how many rows the default partition has, up to `most_rows`. */
const countPartitions = statement({
  name: 'executor-bridge.partitions.count',
  parameters: { days_ahead: int4, most_rows: int8 },
  row: { days: int4, rows: int8 },
  sql: `SELECT (SELECT coalesce(min(n) FILTER (WHERE c.oid IS NULL), :days_ahead + 1)
            FROM generate_series(0, :days_ahead) n
            LEFT JOIN (pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND i.inhparent = 'log_chunks'::regclass)
              ON c.relname = 'log_chunks_' || to_char((now() AT TIME ZONE 'UTC')::date + n, 'YYYYMMDD')) AS days,
         (SELECT count(*) FROM (SELECT FROM log_chunks_default LIMIT :most_rows) found) AS rows`,
})

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
