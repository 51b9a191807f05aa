import type { Queryable, RowOf } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { findOutlook } from './outlook.sql.ts'

export type Outlook = RowOf<typeof findOutlook>

/** An estimate uses this many recent runs, and needs at least `FEWEST`. */
const RECENT = 100
const FEWEST = 5

/** Covers all instances, but only the running deployments that the tenant of the connection may see. */
export const readOutlook = (db: Queryable): Promise<Outlook> =>
  findOutlook.one(db, { version: COMPATIBLE_VERSION, fewest: FEWEST, recent: RECENT })
