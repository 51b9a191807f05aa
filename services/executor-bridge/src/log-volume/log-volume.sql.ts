import { int8, nullable, statement, uuid } from '@slipway/database'

/** SQL: the day of log volumes. */
export const TODAY = "(now() AT TIME ZONE 'UTC')::date"

/** The bytes that a tenant has logged today. With OR in place of UNION, a generic plan reads the runs of all tenants. */
export const findBytesToday = statement({
  name: 'executor-bridge.log-volume.find-bytes-today',
  parameters: { tenant_id: nullable(uuid) },
  row: { bytes: int8 },
  sql: `SELECT coalesce(sum(log_day_bytes), 0)::bigint AS bytes FROM (
      SELECT log_day_bytes FROM run_progress WHERE log_day = ${TODAY} AND tenant_id = :tenant_id
      UNION ALL
      SELECT log_day_bytes FROM run_progress WHERE log_day = ${TODAY} AND tenant_id IS NULL AND :tenant_id::uuid IS NULL) run`,
})
