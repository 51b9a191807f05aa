import { type Database, forAllTenants, Quarantine } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'

const TICK_MS = 60_000
/** Longer than an upload may pause. */
const BROKEN_OFF = `interval '15 minutes'`
const BATCH = 100

/**
 * Deletes content that no version of a source uses and that was not uploaded for `retentionDays` (0: never), and what broken
 * uploads left behind. Several gateways may run it at the same time.
 */
export function startContentSweep(database: Database, retentionDays: number, logger: Logger): Ticker {
  const quarantine = new Quarantine({ task: 'content-sweep', logger })
  return createTicker({
    name: 'content-sweep',
    intervalMs: TICK_MS,
    logger,
    run: () => forAllTenants(() => sweepContent(database, retentionDays, logger, quarantine)),
  })
}

interface ContentSweep {
  database: Database
  logger: Logger
  quarantine: Quarantine
}

/** A part of the sweep, or a row, that fails does not stop the others. */
export async function sweepContent(
  database: Database,
  retentionDays: number,
  logger: Logger,
  quarantine = new Quarantine({ task: 'content-sweep', logger }),
): Promise<void> {
  const sweep = { database, logger, quarantine }
  const parts = new Map<string, () => Promise<void>>()
  if (retentionDays > 0) {
    parts.set('contents', () => sweepUnused(sweep, retentionDays))
    parts.set('claims', () => dropUnusedClaims(database, retentionDays))
  }
  // Last: deleted content leaves its upload behind.
  parts.set('uploads', () => sweepUploads(sweep))
  await quarantine.each(
    [...parts],
    ([name]) => name,
    ([, part]) => part(),
  )
}

async function sweepUnused({ database, logger, quarantine }: ContentSweep, retentionDays: number): Promise<void> {
  const unused = `uploaded_at < now() - make_interval(days => $1)
    AND NOT EXISTS (SELECT FROM source_contents x WHERE x.content_id = c.id)`
  const { rows: found } = await database.query<{ id: string }>(
    `SELECT id FROM contents c WHERE ${unused} AND id <> ALL($2::text[]) ORDER BY uploaded_at LIMIT ${BATCH}`,
    [retentionDays, quarantine.held],
  )
  const deleted = await quarantine.together(
    found.map(({ id }) => id),
    (id) => id,
    async (ids) => {
      // A transaction that publishes a use meanwhile holds a lock on the row, or the foreign key refuses it.
      const { rows } = await database.query<{ id: string }>(
        `DELETE FROM contents WHERE id IN (
           SELECT id FROM contents c WHERE ${unused} AND id = ANY($2::text[]) ORDER BY id FOR UPDATE SKIP LOCKED)
         RETURNING id`,
        [retentionDays, ids],
      )
      return rows.map(({ id }) => id)
    },
  )
  const contents = deleted.flat()
  if (contents.length > 0) logger.info('unused content was deleted', { contents })
}

/**
 * Ends what content costs a tenant that does not use it any more, while others still do. Its users lose their access with
 * it: otherwise they could use the content again without it counting.
 */
async function dropUnusedClaims(database: Database, retentionDays: number): Promise<void> {
  await database.query(
    `WITH dropped AS (
       DELETE FROM content_tenants WHERE id IN (
         SELECT id FROM content_tenants t
         WHERE uploaded_at < now() - make_interval(days => $1)
           AND NOT EXISTS (SELECT FROM source_contents x JOIN sources s ON s.id = x.source_id
                           WHERE x.content_id = t.content_id AND (t.tenant_id IS NULL OR s.tenant_id = t.tenant_id))
         ORDER BY uploaded_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
       RETURNING content_id, tenant_id)
     DELETE FROM content_uploaders u USING dropped d, users w
     WHERE u.content_id = d.content_id AND w.id = u.user_id AND w.tenant_id IS NOT DISTINCT FROM d.tenant_id`,
    [retentionDays],
  )
}

async function sweepUploads({ database, quarantine }: ContentSweep): Promise<void> {
  const broken = `touched_at < now() - ${BROKEN_OFF} AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)`
  const { rows } = await database.query<{ id: string }>(
    `SELECT id FROM content_uploads u WHERE ${broken} AND id::text <> ALL($1::text[]) ORDER BY touched_at LIMIT ${BATCH}`,
    [quarantine.held],
  )
  // One at a time: the chunks of an upload may be a gigabyte.
  await quarantine.each(
    rows,
    ({ id }) => id,
    ({ id }) =>
      database.query(
        `DELETE FROM content_uploads WHERE id IN (
           SELECT id FROM content_uploads u WHERE ${broken} AND id = $1 FOR UPDATE SKIP LOCKED)`,
        [id],
      ),
  )
}
