import type { CallingKey } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import type { Queryable } from '../queryable.ts'
import { insertRecords } from './record.sql.ts'

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
