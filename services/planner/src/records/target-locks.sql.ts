import { bool, statement } from '@slipway/database'
import { ANY_POLICY } from '@slipway/views'

export const isAnyPolicy = statement({
  name: 'planner.target-locks.any-policy',
  row: { any: bool },
  sql: `SELECT ${ANY_POLICY} AS any`,
})
