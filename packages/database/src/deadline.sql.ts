import { statement } from './sql/statement.ts'
import { bool, timestamptz } from './sql/types.ts'

export const hasPassed = statement({
  name: 'database.deadline.has-passed',
  parameters: { deadline: timestamptz },
  row: { passed: bool },
  sql: 'SELECT clock_timestamp() > :deadline AS passed',
})
