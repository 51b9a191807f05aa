import { statement } from './sql/statement.ts'
import { bool, text } from './sql/types.ts'

export const isApplied = statement({
  name: 'database.migrations.is-applied',
  parameters: { name: text },
  row: { applied: bool },
  sql: `SELECT EXISTS (SELECT FROM _prisma_migrations
      WHERE migration_name = :name AND finished_at IS NOT NULL AND rolled_back_at IS NULL) AS applied`,
})
