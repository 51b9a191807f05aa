import type { CommandBody } from '@slipway/contracts'

export type Caller = CommandBody<'plan.create'>['caller']

/**
 * Condition for the records that a caller may use: all of them without a tenant, else its own and the shared ones.
 * `parameter` is the place of the caller's tenant id in the statement.
 */
export const visible = (column: string, parameter: string) =>
  `(${parameter}::uuid IS NULL OR ${column} IS NULL OR ${column} = ${parameter}::uuid)`
