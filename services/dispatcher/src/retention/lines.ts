import type { Database, Queryable } from '@slipway/database'
import type { DropOptions } from './drop-options.ts'
import { recordDrop } from './record.ts'

const BATCH = 1_000
/** Lock not available. */
const LOCKED = '55P03'

/** A day's lines. */
export interface OldDay {
  partition: string
  day: string
  bytes: number
}

/**
 * Days that ended so many days ago, oldest first. None from the beginning of the oldest deployment that still runs on:
 * while a deployment runs its log is whole.
 */
export async function findOldDays(db: Queryable, days: number): Promise<OldDay[]> {
  const { rows } = await db.query<OldDay>(
    `SELECT p.partition, p.day::text, pg_total_relation_size(p.partition::regclass) AS bytes
       FROM (SELECT c.relname::text AS partition, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
               FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              WHERE i.inhparent = 'log_chunks'::regclass AND c.relname ~ '^log_chunks_[0-9]{8}$') p
      WHERE (p.day + 1)::timestamp AT TIME ZONE 'UTC' <= least(
              now() - make_interval(days => $1),
              (SELECT min(created_at) FROM deployments WHERE completed_at IS NULL))
      ORDER BY p.day`,
    [days],
  )
  return rows
}

/** Drops the lines of old days. Returns how many days; one that is in use is left to the next time. */
export async function dropOldDays(options: DropOptions, days: number): Promise<number> {
  const { database, signal, quarantine } = options
  const dropped = await quarantine.each(
    await findOldDays(database, days),
    ({ partition }) => partition,
    async (day) => !signal.aborted && dropDay(options, day, days),
  )
  await dropStrays(database, days, signal)
  return dropped.filter(Boolean).length
}

async function dropDay({ database, logger }: DropOptions, { day, bytes }: OldDay, days: number): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      // Waits at most one second for its lock: every reader and writer of log lines waits behind it.
      await tx.query('SELECT drop_log_partition($1::date, $2)', [day, days])
      await recordDrop(tx, 'log', { day, bytes, older_than_days: days })
    })
    logger.info('retention dropped the log lines of a day', { day, bytes })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCKED) throw error
    logger.warn('the log lines of a day are in use; they are dropped the next time', { day })
    return false
  }
}

/** Lines that came on a day without partition of its own. */
async function dropStrays(database: Database, days: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rowCount } = await database.query(
      `DELETE FROM log_chunks WHERE (deployment_id, first_line, created_at) IN (
         SELECT c.deployment_id, c.first_line, c.created_at FROM log_chunks c
          WHERE c.tableoid = 'log_chunks_default'::regclass AND c.created_at < least(
                  now() - make_interval(days => $1),
                  (SELECT min(created_at) FROM deployments WHERE completed_at IS NULL))
          LIMIT ${BATCH})`,
      [days],
    )
    if ((rowCount ?? 0) < BATCH) return
  }
}
