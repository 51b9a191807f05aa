import type { Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { insertRecords } from './record.sql.ts'

/** One change, or one refusal of a change. Never holds a secret. */
export interface AuditEntry {
  /**
   * The id of the call, or of the command that carries it out: whoever writes first about it is the only one who does.
   * A new one when left out.
   */
  id?: string
  actor_id: string | null
  actor_name: string | null
  actor_ip: string | null
  /** `KIND.VERB`, as the operation's `audit` in the contracts. */
  action: string
  resource_type: string
  resource_id: string | null
  tenant_id: string | null
  request_id: string | null
  details: Record<string, unknown>
}

/**
 * Writes records within the caller's transaction, so that there is no change without its record, in one statement.
 * Returns how many were written: an entry whose id has a record is left out, also when that record is of a transaction
 * that has yet to end, which is waited for.
 */
export async function recordAudit(tx: Queryable, entries: readonly AuditEntry[]): Promise<number> {
  return insertRecords.runRows(
    tx,
    entries.map((entry) => ({ ...entry, id: entry.id ?? uuidv7() })),
  )
}
