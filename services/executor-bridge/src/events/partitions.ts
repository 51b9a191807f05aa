import type { Database } from '@slipway/database'
import { createTicker, type Logger, measure, type Ticker } from '@slipway/runtime'

const DAYS_AHEAD = 2
/** A day that could not be made is tried again this soon. With nothing to do, a run costs one query of the catalog per day. */
const INTERVAL_MS = 10 * 60 * 1000
/** More rows than this are reported as this number: counting must stay cheap. */
const MOST_ROWS = 100_000

type Outcome = 'exists' | 'created' | 'moved' | 'left' | 'busy'

/** Keeps the partitions of the log made ahead, from now on. */
export function keepLogPartitions(database: Database, logger: Logger): Ticker {
  measureLogPartitions(database)
  return createTicker({
    name: 'log-partitions',
    intervalMs: INTERVAL_MS,
    logger,
    run: () => makeLogPartitions(database, logger),
  })
}

/** Makes the partition of each day by itself: a day that fails is logged, tried again the next time, and stops no other. */
export async function makeLogPartitions(database: Database, logger: Logger): Promise<void> {
  for (const day of await daysToMake(database)) {
    try {
      const outcome = await makeLogPartition(database, day)
      if (outcome === 'moved') logger.info('log lines of a day were moved into the partition of that day', { day })
      if (outcome === 'left') {
        logger.warn('too many log lines of a day are in log_chunks_default to move them; they stay there', { day })
      }
    } catch (error) {
      logger.error('the log partition of a day could not be made; its lines go to log_chunks_default', { day, error })
    }
  }
}

/** The next days, and earlier days with lines in the default partition. */
async function daysToMake(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ day: string }>(
    `SELECT day::date::text AS day
       FROM (SELECT generate_series((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + $1::int, '1 day') AS day
             UNION
             SELECT date_trunc('day', created_at AT TIME ZONE 'UTC') FROM log_chunks_default WHERE created_at < now()) days
      ORDER BY day DESC`,
    [DAYS_AHEAD],
  )
  return rows.map(({ day }) => day)
}

async function makeLogPartition(database: Database, day: string): Promise<Outcome | undefined> {
  const { rows } = await database.query<{ outcome: Outcome }>('SELECT ensure_log_partition($1::date) AS outcome', [day])
  return rows[0]?.outcome
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
      const { rows } = await database.query<{ days: number; rows: number }>(
        `SELECT (SELECT coalesce(min(n) FILTER (WHERE c.oid IS NULL), $1 + 1)
                   FROM generate_series(0, $1) n
                   LEFT JOIN (pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND i.inhparent = 'log_chunks'::regclass)
                     ON c.relname = 'log_chunks_' || to_char((now() AT TIME ZONE 'UTC')::date + n, 'YYYYMMDD')) AS days,
                (SELECT count(*) FROM (SELECT FROM log_chunks_default LIMIT ${MOST_ROWS}) found) AS rows`,
        [DAYS_AHEAD],
      )
      return {
        slipway_log_partition_days: rows[0]?.days ?? 0,
        slipway_log_default_rows: rows[0]?.rows ?? 0,
      }
    },
  )
}
