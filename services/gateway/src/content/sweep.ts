import { type Database, forAllTenants } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'

const TICK_MS = 60_000
/** More than an upload may pause. */
const BROKEN_OFF = `interval '15 minutes'`
const BATCH = 100

/**
 * Deletes content that no version of a source uses and nobody has brought for so many days (0: never), and what uploads
 * that broke off have left. Any number of gateways may.
 */
export function startContentSweep(database: Database, retentionDays: number, logger: Logger): Ticker {
  return createTicker({
    name: 'content-sweep',
    intervalMs: TICK_MS,
    logger,
    run: () => forAllTenants(() => sweepContent(database, retentionDays, logger)),
  })
}

export async function sweepContent(database: Database, retentionDays: number, logger: Logger): Promise<void> {
  if (retentionDays > 0) {
    // Whoever publishes a use meanwhile holds the row, and is seen or refused by the foreign key.
    const { rows } = await database.query<{ id: string }>(
      `DELETE FROM contents WHERE id IN (
         SELECT id FROM contents c
         WHERE uploaded_at < now() - make_interval(days => $1)
           AND NOT EXISTS (SELECT FROM source_contents x WHERE x.content_id = c.id)
         ORDER BY uploaded_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [retentionDays],
    )
    if (rows.length > 0) logger.info('unused content was deleted', { contents: rows.map(({ id }) => id) })
  }
  // One at a time: the chunks of an upload may be a gigabyte.
  for (let swept = 0; swept < BATCH && (await sweepUpload(database)); swept += 1);
}

async function sweepUpload(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(
    `DELETE FROM content_uploads WHERE id = (
       SELECT id FROM content_uploads u
       WHERE touched_at < now() - ${BROKEN_OFF} AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)
       ORDER BY touched_at LIMIT 1 FOR UPDATE SKIP LOCKED)`,
  )
  return rowCount === 1
}
