import { int4, int8, oneOf, statement, text } from '@slipway/database'

/** The next days, and earlier days with lines in the default partition. */
export const findDaysToMake = statement({
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

export const ensurePartition = statement({
  name: 'executor-bridge.partitions.ensure',
  parameters: { day: text },
  row: { outcome: oneOf('text', ['exists', 'created', 'moved', 'left', 'busy']) },
  sql: 'SELECT ensure_log_partition(:day::text::date) AS outcome',
})

/** How many days from today on have a partition, and how many rows the default partition has, up to `most_rows`. */
export const countPartitions = statement({
  name: 'executor-bridge.partitions.count',
  parameters: { days_ahead: int4, most_rows: int8 },
  row: { days: int4, rows: int8 },
  sql: `SELECT (SELECT coalesce(min(n) FILTER (WHERE c.oid IS NULL), :days_ahead + 1)
            FROM generate_series(0, :days_ahead) n
            LEFT JOIN (pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND i.inhparent = 'log_chunks'::regclass)
              ON c.relname = 'log_chunks_' || to_char((now() AT TIME ZONE 'UTC')::date + n, 'YYYYMMDD')) AS days,
         (SELECT count(*) FROM (SELECT FROM log_chunks_default LIMIT :most_rows) found) AS rows`,
})
