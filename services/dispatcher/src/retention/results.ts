import type { Database, Queryable } from '@slipway/database'
import { recordDrop } from './drop.ts'
import { countResults, deleteResults, MOST_ROWS } from './retention.sql.ts'

/** How many command results are older than `days`. */
export async function countOldResults(db: Queryable, days: number): Promise<number> {
  return (await countResults.one(db, { days })).count
}

/** Deletes old command results with the end of their output. The steps keep how each command ended. Returns how many. */
export async function dropOldResults(database: Database, days: number, signal: AbortSignal): Promise<number> {
  let dropped = 0
  for (let count = MOST_ROWS.results; count === MOST_ROWS.results && !signal.aborted; dropped += count) {
    count = await deleteResults.run(database, { days })
  }
  if (dropped > 0) await recordDrop(database, 'results', { results: dropped, older_than_days: days })
  return dropped
}
