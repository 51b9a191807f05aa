import type { CallingKey } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { insertion, type Queryable, statement } from '../sql/statement.ts'
import { bool, jsonb, nullable, text, uuid } from '../sql/types.ts'

/**
 * Adds records. It skips ids that exist, and waits for transactions that are adding one of them. ON CONFLICT names no column,
 * because Postgres would then require the right to read the column.
 */
const insertRecords = insertion({
  name: 'database.audit-records.insert',
  into: 'audit_records',
  columns: {
    id: uuid,
    actor_id: nullable(uuid),
    actor_name: nullable(text),
    actor_ip: nullable(text),
    action: text,
    resource_type: text,
    resource_id: nullable(text),
    tenant_id: nullable(uuid),
    request_id: nullable(text),
    details: jsonb<Record<string, unknown>>(),
  },
  sql: 'ON CONFLICT DO NOTHING',
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
