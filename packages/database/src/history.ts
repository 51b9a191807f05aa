import { sqlState } from './failures.ts'
import { BASELINE } from './generated/newest-migration.ts'
import type { Queryable } from './queryable.ts'
import { findOlderHistory } from './wait-for-database.sql.ts'

/** A missing table, or a missing right: rights are granted after the migrations. */
export const BEFORE_MIGRATIONS: ReadonlySet<string> = new Set(['42P01', '42501'])

/** What is wrong with a database that was made before the baseline, and what to do; null for any other. */
export async function findHistoryProblem(db: Queryable): Promise<string | null> {
  const newest = await newestBeforeBaseline(db)
  return newest === null
    ? null
    : `names a database that was made before the baseline ${BASELINE}: its newest migration is ${newest}, and no migration leads on ` +
        'from there. Save its records with `slipway export` of the version that made it, name an empty database, migrate, and load ' +
        'the records with `slipway apply` (docs/upgrading.md, "Databases from before the baseline")'
}

async function newestBeforeBaseline(db: Queryable): Promise<string | null> {
  try {
    return (await findOlderHistory.one(db, { baseline: BASELINE })).newest
  } catch (error) {
    if (BEFORE_MIGRATIONS.has(sqlState(error) ?? '')) return null
    throw error
  }
}
