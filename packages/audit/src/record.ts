import type { Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { insertRecords } from './record.sql.ts'

/** One change or one refused change, without secrets. */
export interface AuditEntry {
  /** The id of the call or of its command. The first record with an id wins. Default: a new id. */
  id?: string
  actor_id: string | null
  actor_name: string | null
  actor_ip: string | null
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
    entries.map((entry) => ({ ...entry, id: entry.id ?? uuidv7() })),
  )
}
