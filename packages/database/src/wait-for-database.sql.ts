import { statement } from './sql/statement.ts'
import { bool, nullable, text } from './sql/types.ts'

export const isApplied = statement({
  name: 'database.migrations.is-applied',
  parameters: { name: text },
  row: { applied: bool },
  sql: `SELECT EXISTS (SELECT FROM _prisma_migrations
      WHERE migration_name = :name AND finished_at IS NOT NULL AND rolled_back_at IS NULL) AS applied`,
})

/** The newest migration of a database to which the baseline was never applied; null for an empty one. */
export const findOlderHistory = statement({
  name: 'database.migrations.find-older-history',
  parameters: { baseline: text },
  row: { newest: nullable(text) },
  sql: `SELECT max(migration_name) AS newest FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL
       AND NOT EXISTS (SELECT FROM _prisma_migrations WHERE migration_name = :baseline)`,
})
