import { ANY_POLICY, bool, statement } from '@slipway/database'

export const isAnyPolicy = statement({
  name: 'planner.target-locks.any-policy',
  row: { any: bool },
  sql: `SELECT ${ANY_POLICY} AS any`,
})
