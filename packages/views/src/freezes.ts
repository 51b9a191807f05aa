import type { Queryable } from '@slipway/database'
import { FreezeSet, windowAt } from '@slipway/domain'
import { findCurrentFreezes } from './freezes.sql.ts'

export interface FreezeRow {
  id: string
  name: string
  description: string | null
  start_time: Date
  end_time: Date
  recurrence: string | null
  start_offset: string | null
  time_zone: string | null
  /** See the schema; lists do not show it. */
  recurs_until?: Date | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
  created_by: string | null
  created_at: Date
  updated_at: Date
}

/** A freeze as lists show it. */
export const freezeItem = ({ start_offset, recurs_until: _, ...row }: FreezeRow) => ({
  ...row,
  active: windowAt({ ...row, start_offset }, new Date()) !== null,
})

export interface FreezesNow {
  freezes: FreezeSet
  /** The clock of the database: the only one that judges freezes. */
  now: Date
}

/**
 * What this process has read, by version. The tenant of the connection is part of a version: what was read for one viewer
 * is never kept for another.
 */
const kept = new Map<string, FreezeSet>()
const MAX_KEPT = 50

/**
 * The freezes that have not ended and the present time, in one statement. The rows are read only when some freeze has
 * changed since the last call: 1,000 rows take about 10 ms, the version less than one.
 */
export async function readFreezes(db: Queryable): Promise<FreezesNow> {
  const known = new Map(kept)
  const row = await findCurrentFreezes.one(db, { known: [...known.keys()] })
  const freezes = known.get(row.version) ?? new FreezeSet(row.freezes ?? [])
  // Older versions never come back.
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(row.version, freezes)
  return { freezes, now: row.now }
}
