import type { Queryable } from '../queryable.ts'
import { findRunTime } from './run-time.sql.ts'

/** An estimate uses this many recent runs, and needs at least `FEWEST`. */
const RECENT = 100
const FEWEST = 5

/** How many seconds a run usually takes; null if too few have finished. */
export const readRunSeconds = async (db: Queryable): Promise<number | null> =>
  (await findRunTime.one(db, { fewest: FEWEST, recent: RECENT })).seconds
