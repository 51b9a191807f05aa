import { statement } from '../sql/statement.ts'
import { array, bool, jsonb, nullable, text, uuid } from '../sql/types.ts'

/**
 * Adds records. It skips ids that exist, and waits for transactions that are adding one of them. ON CONFLICT names no column,
 * because Postgres would then require the right to read the column.
 */
export const insertRecords = statement({
  name: 'database.audit-records.insert',
  parameters: {
    id: array(uuid),
    actor_id: array(nullable(uuid)),
    actor_name: array(nullable(text)),
    actor_ip: array(nullable(text)),
    action: array(text),
    resource_type: array(text),
    resource_id: array(nullable(text)),
    tenant_id: array(nullable(uuid)),
    request_id: array(nullable(text)),
    details: array(jsonb<Record<string, unknown>>()),
  },
  sql: `INSERT INTO audit_records
      (id, actor_id, actor_name, actor_ip, action, resource_type, resource_id, tenant_id, request_id, details)
    SELECT * FROM unnest(:id::uuid[], :actor_id::uuid[], :actor_name::text[], :actor_ip::text[], :action::text[],
      :resource_type::text[], :resource_id::text[], :tenant_id::uuid[], :request_id::text[], :details::jsonb[])
    ON CONFLICT DO NOTHING`,
})

/** Whether a record says that this command was carried out. */
export const isCarriedOut = statement({
  name: 'database.audit-records.is-carried-out',
  parameters: { id: uuid },
  row: { carried_out: bool },
  sql: `SELECT EXISTS (SELECT FROM audit_records WHERE id = :id
      AND coalesce(details ->> 'outcome', '') NOT IN ('refused', 'failed')) AS carried_out`,
})
