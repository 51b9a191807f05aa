import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import { createTicker, type Ticker } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { findFaded, noteStatus } from './probes.sql.ts'

const TASK = 'fading-targets'
const EVERY_MS = 5_000
/** How many targets are handled in one transaction. */
const MAX_TARGETS = 1_000

/** Sends events of targets that become stale or offline because they are no longer reached. Runs until it is stopped. */
export function tellOfFading(bridge: Bridge): Ticker {
  const quarantine = new Quarantine({ task: TASK, logger: bridge.logger })
  const ticker = createTicker({
    name: 'targets that fade',
    intervalMs: EVERY_MS,
    logger: bridge.logger,
    async run() {
      if ((await tellOnce(bridge, quarantine)) === MAX_TARGETS) ticker.kick()
    },
  })
  return ticker
}

/**
 * Sends the events once, and returns how many targets had a new status. The process that reaches a target again sends that
 * event itself. A target whose event fails does not stop the others.
 */
export async function tellOnce(
  { database, wakeRelay, logger }: Bridge,
  quarantine = new Quarantine({ task: TASK, logger }),
): Promise<number> {
  const rows = await findFaded.all(database, { held: quarantine.held, limit: MAX_TARGETS })
  const counts = await quarantine.together(
    rows,
    ({ target_id }) => target_id,
    (targets) =>
      tell(
        database,
        targets.map(({ target_id }) => target_id),
      ),
  )
  const changed = counts.reduce((total, count) => total + count, 0)
  if (changed > 0) wakeRelay()
  return changed
}

function tell(database: Database, ids: readonly string[]): Promise<number> {
  return database.transaction(async (tx) => {
    const rows = await noteStatus.all(tx, { ids })
    const told = rows.filter(({ tell }) => tell)
    await enqueue(
      tx,
      told.map(({ target_id, tenant_id }) => eventMessage('target.updated', { target_id, tenant_id })),
    )
    return rows.length
  })
}
