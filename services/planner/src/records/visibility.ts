import type { CommandBody } from '@slipway/contracts'

export type Caller = CommandBody<'plan.create'>['caller']

/**
 * SQL: whether the caller may use the record: without a tenant all records, else those of the tenant and shared ones.
 * `parameter` is the place of the caller's tenant id in the statement.
 */
export const visible = (column: string, parameter: string) =>
  `(${parameter}::uuid IS NULL OR ${column} IS NULL OR ${column} = ${parameter}::uuid)`
