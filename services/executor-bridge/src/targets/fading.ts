import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import { createTicker, type Ticker } from '@slipway/runtime'
import { targetStatus } from '@slipway/views'
import type { Bridge } from '../bridge.ts'

const TASK = 'fading-targets'
const EVERY_MS = 5_000
/** In one transaction. */
const MAX_TARGETS = 1_000

/** Tells of targets that become stale or offline because nothing reaches them any more, from now on. */
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

const CHANGED = `last_seen_at IS NOT NULL AND told_status IS DISTINCT FROM ${targetStatus()}`

/**
 * How many targets had another status than was noted. That a target is reached again is told by the process that reaches
 * it. A target that cannot be told of does not stop the others.
 */
export async function tellOnce(
  { database, wakeRelay, logger }: Bridge,
  quarantine = new Quarantine({ task: TASK, logger }),
): Promise<number> {
  const { rows } = await database.query<{ target_id: string }>(
    `SELECT target_id FROM target_facts WHERE ${CHANGED} AND target_id <> ALL($1::uuid[])
     ORDER BY target_id LIMIT ${MAX_TARGETS}`,
    [quarantine.held],
  )
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
    const { rows } = await tx.query<{ target_id: string; tenant_id: string | null; tell: boolean }>(
      `WITH changed AS (
         SELECT target_id, told_status AS before, ${targetStatus()} AS status FROM target_facts
         WHERE ${CHANGED} AND target_id = ANY($1::uuid[])
         ORDER BY target_id FOR UPDATE SKIP LOCKED
       ), noted AS (
         UPDATE target_facts f SET told_status = c.status FROM changed c WHERE f.target_id = c.target_id
       )
       SELECT c.target_id, t.tenant_id,
              c.status <> 'online' AND c.before IS NOT NULL AND t.connection ->> 'type' NOT IN ('local', 'simulated') AS tell
       FROM changed c LEFT JOIN targets t ON t.id = c.target_id`,
      [ids],
    )
    const told = rows.filter(({ tell }) => tell)
    await enqueue(
      tx,
      told.map(({ target_id, tenant_id }) => eventMessage('target.updated', { target_id, tenant_id })),
    )
    return rows.length
  })
}
