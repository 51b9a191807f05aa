import { sqlState } from './failures.ts'
import { BASELINE } from './generated/newest-migration.ts'
import { type Queryable, statement } from './sql/statement.ts'
import { nullable, text } from './sql/types.ts'

/** The newest migration of a database to which the baseline was never applied; null for an empty one. */
const findOlderHistory = statement({
  name: 'database.migrations.find-older-history',
  parameters: { baseline: text },
  row: { newest: nullable(text) },
  sql: `SELECT max(migration_name) AS newest FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
       AND NOT EXISTS (SELECT FROM _prisma_migrations WHERE migration_name = :baseline)`,
})

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
