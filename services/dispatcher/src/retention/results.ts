import type { Database, Queryable } from '@slipway/database'
import { recordDrop } from './record.ts'
import { countResults, deleteResults, MOST_ROWS } from './retention.sql.ts'

/** How many results of commands are older than so many days. */
export async function countOldResults(db: Queryable, days: number): Promise<number> {
  return (await countResults.one(db, { days })).count
}

/** Drops results, with the ends of the output; how each command ended stays with its step. Returns how many. */
export async function dropOldResults(database: Database, days: number, signal: AbortSignal): Promise<number> {
  let dropped = 0
  for (let count = MOST_ROWS.results; count === MOST_ROWS.results && !signal.aborted; dropped += count) {
    count = await deleteResults.run(database, { days })
  }
  if (dropped > 0) await recordDrop(database, 'results', { results: dropped, older_than_days: days })
  return dropped
}
