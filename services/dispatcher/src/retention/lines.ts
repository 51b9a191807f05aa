import { isLocked, type RowOf } from '@slipway/database'
import { type DropOptions, recordDrop } from './drop.ts'
import { deleteStrays, dropPartition, findDays, MOST_ROWS } from './retention.sql.ts'

/** The log lines of one day. */
export type OldDay = RowOf<typeof findDays>

/** Drops the log lines of old days. Returns how many days. A day that is in use is left for the next run. */
export async function dropOldDays(options: DropOptions, days: number): Promise<number> {
  const { database, signal, quarantine } = options
  const dropped = await quarantine.each(
    await findDays.all(database, { days }),
    ({ partition }) => partition,
    async (day) => !signal.aborted && dropDay(options, day, days),
  )
  while (!signal.aborted && (await deleteStrays.run(database, { days })) === MOST_ROWS.chunks);
  return dropped.filter(Boolean).length
}

async function dropDay({ database, logger }: DropOptions, { day, bytes }: OldDay, days: number): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      await dropPartition.run(tx, { day, days })
      await recordDrop(tx, 'log', { day, bytes, older_than_days: days })
    })
    logger.info('retention dropped the log lines of a day', { day, bytes })
    return true
  } catch (error) {
    if (!isLocked(error)) throw error
    logger.warn('the log lines of a day are in use; they are dropped the next time', { day })
    return false
  }
}
