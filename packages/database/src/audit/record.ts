import type { CallingKey } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { type Queryable, statement } from '../sql/statement.ts'
import { array, bool, jsonb, nullable, text, uuid } from '../sql/types.ts'

/**
 * Adds records. It skips ids that exist, and waits for transactions that are adding one of them. ON CONFLICT names no column,
 * because Postgres would then require the right to read the column.
 */
const insertRecords = statement({
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

/** One change or one refused change, without secrets. */
export interface AuditEntry {
  /** The id of the call or of its command. The first record with an id wins. Default: a new id. */
  id?: string
  actor_id: string | null
  actor_name: string | null
  actor_ip: string | null
  /** The API key that authenticated the call, if any. */
  api_key?: CallingKey | undefined
  /** `KIND.VERB`, such as `deployment.cancel`. */
  action: string
  resource_type: string
  resource_id: string | null
  tenant_id: string | null
  request_id: string | null
  details: Record<string, unknown>
}

/**
 * Writes records in the transaction of the change, and returns how many it wrote. It skips an entry if a record has its id. If a
 * concurrent transaction is writing that id, this waits for the end of that transaction.
 */
export async function recordAudit(tx: Queryable, entries: readonly AuditEntry[]): Promise<number> {
  return insertRecords.runRows(
    tx,
    entries.map(({ api_key, details, ...entry }) => ({
      ...entry,
      id: entry.id ?? uuidv7(),
      details: api_key === undefined ? details : { ...details, [API_KEY]: api_key },
    })),
  )
}

/**
 * The API key is stored within the details, which the chain has always covered. In a column of its own, no rule of the chain
 * would fit the records of both this release and the one before.
 */
const API_KEY = 'api_key'
