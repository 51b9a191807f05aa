import { enqueue, eventMessage, targetStatus } from '@slipway/database'
import { createTicker, type Ticker } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'

const EVERY_MS = 5_000
/** In one transaction. */
const MAX_TARGETS = 1_000

/** Tells of targets that become stale or offline because nothing reaches them any more, from now on. */
export function tellOfFading(bridge: Bridge): Ticker {
  const ticker = createTicker({
    name: 'targets that fade',
    intervalMs: EVERY_MS,
    logger: bridge.logger,
    async run() {
      if ((await tellOnce(bridge)) === MAX_TARGETS) ticker.kick()
    },
  })
  return ticker
}

/** How many targets had another status than was noted. That one is reached again is told by whoever reaches it. */
export async function tellOnce({ database, wakeRelay }: Bridge): Promise<number> {
  const changed = await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ target_id: string; tenant_id: string | null; tell: boolean }>(
      `WITH changed AS (
         SELECT target_id, told_status AS before, ${targetStatus()} AS status FROM target_facts
         WHERE last_seen_at IS NOT NULL AND told_status IS DISTINCT FROM ${targetStatus()}
         ORDER BY target_id LIMIT ${MAX_TARGETS} FOR UPDATE SKIP LOCKED
       ), noted AS (
         UPDATE target_facts f SET told_status = c.status FROM changed c WHERE f.target_id = c.target_id
       )
       SELECT c.target_id, t.tenant_id,
              c.status <> 'online' AND c.before IS NOT NULL AND t.connection ->> 'type' NOT IN ('local', 'simulated') AS tell
       FROM changed c LEFT JOIN targets t ON t.id = c.target_id`,
    )
    const told = rows.filter(({ tell }) => tell)
    await enqueue(
      tx,
      told.map(({ target_id, tenant_id }) => eventMessage('target.updated', { target_id, tenant_id })),
    )
    return rows.length
  })
  if (changed > 0) wakeRelay()
  return changed
}
