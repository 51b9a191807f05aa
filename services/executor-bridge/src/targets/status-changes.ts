import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import { createTicker, type Ticker } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { findStatusChanges, saveStatus } from './probes.sql.ts'

const TASK = 'target-status'
const EVERY_MS = 5_000
/** How many targets are handled in one transaction. */
const MAX_TARGETS = 1_000

/** Sends events of targets that become stale or offline because they are no longer reached. Runs until it is stopped. */
export function startStatusPublisher(bridge: Bridge): Ticker {
  const quarantine = new Quarantine({ task: TASK, logger: bridge.logger })
  const ticker = createTicker({
    name: 'target status',
    intervalMs: EVERY_MS,
    logger: bridge.logger,
    async run() {
      if ((await publishStatusChanges(bridge, quarantine)) === MAX_TARGETS) ticker.kick()
    },
  })
  return ticker
}

/**
 * Sends the events once, and returns how many targets had a new status. The process that reaches a target again sends that
 * event itself. A target whose event fails does not stop the others.
 */
export async function publishStatusChanges(
  { database, wakeRelay, logger }: Bridge,
  quarantine = new Quarantine({ task: TASK, logger }),
): Promise<number> {
  const rows = await findStatusChanges.all(database, { held: quarantine.held, limit: MAX_TARGETS })
  const counts = await quarantine.together(
    rows,
    ({ target_id }) => target_id,
    (targets) =>
      publishEvents(
        database,
        targets.map(({ target_id }) => target_id),
      ),
  )
  const changed = counts.reduce((total, count) => total + count, 0)
  if (changed > 0) wakeRelay()
  return changed
}

function publishEvents(database: Database, ids: readonly string[]): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await saveStatus.all(tx, { ids })
    const unpublished = rows.filter(({ is_unpublished }) => is_unpublished)
    await enqueue(
      tx,
      unpublished.map(({ target_id, tenant_id }) => eventMessage('target.updated', { target_id, tenant_id })),
    )
    return rows.length
  })
}
