import { statement } from '../sql/statement.ts'
import { bool } from '../sql/types.ts'

export const ownsTables = statement({
  name: 'database.roles.owns-tables',
  row: { owns: bool },
  sql: `SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                         AND pg_has_role(relowner, 'USAGE')) AS owns`,
})
