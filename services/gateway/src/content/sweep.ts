import { type Database, forAllTenants, Quarantine } from '@slipway/database'
import { createTicker, type Logger, type Ticker } from '@slipway/runtime'
import { deleteBrokenUpload, deleteUnused, dropUnusedClaims, findBrokenUploads, findUnused } from './sweep.sql.ts'

const TICK_MS = 60_000
const BATCH = 100

/**
 * Deletes broken uploads, and content that no version uses and that was not uploaded for `retentionDays` (0: never). Several
 * gateways may run the sweep at the same time.
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

/** A part or a row that fails does not stop the others. */
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
    parts.set('claims', async () => {
      await dropUnusedClaims.run(database, { days: retentionDays, limit: BATCH })
    })
  }
  // Last, because the upload of deleted content becomes a broken upload.
  parts.set('uploads', () => sweepUploads(sweep))
  await quarantine.each(
    [...parts],
    ([name]) => name,
    ([, part]) => part(),
  )
}

async function sweepUnused({ database, logger, quarantine }: ContentSweep, retentionDays: number): Promise<void> {
  const days = retentionDays
  const found = await findUnused.all(database, { days, held: quarantine.held, limit: BATCH })
  const deleted = await quarantine.together(
    found.map(({ id }) => id),
    (id) => id,
    async (ids) => (await deleteUnused.all(database, { days, ids: [...ids] })).map(({ id }) => id),
  )
  const contents = deleted.flat()
  if (contents.length > 0) logger.info('unused content was deleted', { contents })
}

async function sweepUploads({ database, quarantine }: ContentSweep): Promise<void> {
  const broken = await findBrokenUploads.all(database, { held: quarantine.held, limit: BATCH })
  // One at a time, because an upload may have a gigabyte of chunks.
  await quarantine.each(
    broken,
    ({ id }) => id,
    (upload) => deleteBrokenUpload.run(database, upload),
  )
}
