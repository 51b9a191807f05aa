import { nameKey } from '@slipway/domain'
import { NAMED_TABLES } from './name-keys.sql.ts'
import type { Queryable } from './queryable.ts'

export type NamedTable = keyof typeof NAMED_TABLES

/** The tables with the columns of `nameKey`. Services that own other tables leave these out. */
export const ALL_NAMED_TABLES = Object.keys(NAMED_TABLES) as NamedTable[]

/**
 * Computes the keys of names that have none: those of releases before the keys. Of several names with one key, the oldest gets it. Returns
 * how many were filled.
 */
export async function fillNameKeys(db: Queryable, tables: readonly NamedTable[] = ALL_NAMED_TABLES): Promise<number> {
  let total = 0
  for (const table of tables) {
    const { find, fill } = NAMED_TABLES[table]
    for (let after: string | null = null; ; ) {
      const rows: { id: string; name: string }[] = await find.all(db, { after })
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.id
      const names = rows.map(({ name }) => name)
      const { filled } = await fill.one(db, { ids: rows.map(({ id }) => id), names, keys: names.map(nameKey) })
      total += filled
    }
  }
  return total
}
