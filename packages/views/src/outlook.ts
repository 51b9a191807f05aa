import type { Queryable, RowOf } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { findOutlook } from './outlook.sql.ts'

/** What the queue waits for, as things are. */
export type Outlook = RowOf<typeof findOutlook>

/** Runs that an estimate is made from, and how few are too few. */
const RECENT = 100
const FEWEST = 5

/** Tells of all instances; of running deployments only what the connection may see. */
export const readOutlook = (db: Queryable): Promise<Outlook> =>
  findOutlook.one(db, { version: COMPATIBLE_VERSION, fewest: FEWEST, recent: RECENT })
