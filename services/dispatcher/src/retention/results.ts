import type { Database, Queryable } from '@slipway/database'
import { recordDrop } from './record.ts'

const BATCH = 5_000

/** How many results of commands are older than so many days. */
export async function countOldResults(db: Queryable, days: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM command_results r JOIN deployments d ON d.id = r.deployment_id
      WHERE ${isOld(days)}`,
  )
  return rows[0]?.count ?? 0
}

/** Drops results, with the ends of the output; how each command ended stays with its step. Returns how many. */
export async function dropOldResults(database: Database, days: number, signal: AbortSignal): Promise<number> {
  let dropped = 0
  for (let count = BATCH; count === BATCH && !signal.aborted; dropped += count) {
    const { rowCount } = await database.query(
      `DELETE FROM command_results WHERE (deployment_id, target_index, action_index) IN (
         SELECT r.deployment_id, r.target_index, r.action_index FROM command_results r
           JOIN deployments d ON d.id = r.deployment_id
          WHERE ${isOld(days)} LIMIT ${BATCH})`,
    )
    count = rowCount ?? 0
  }
  if (dropped > 0) await recordDrop(database, 'results', { results: dropped, older_than_days: days })
  return dropped
}

/** In the statement, not as its parameter: planned without knowing the days, it would read the whole table. */
const isOld = (days: number) => `r.completed_at < now() - interval '${days} days' AND d.completed_at IS NOT NULL`
