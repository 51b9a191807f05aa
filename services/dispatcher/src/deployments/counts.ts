import type { Database } from '@slipway/database'
import { foldRows, lockFold, measureCounts } from './counts.sql.ts'

const FEWEST_ROWS = 100

/**
 * Sums up the rows that transactions added to the counts of lists. Waits until there are as many new rows as kinds, so that its
 * work stays a share of theirs.
 */
export function foldCounts(database: Database): Promise<void> {
  return database.transaction(async (tx) => {
    if (!(await lockFold.one(tx)).locked) return
    const { fresh, kinds } = await measureCounts.one(tx)
    if (fresh >= Math.max(FEWEST_ROWS, kinds)) await foldRows.run(tx)
  })
}
