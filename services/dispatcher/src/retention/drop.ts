import type { Database, Quarantine, Queryable } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import type { Logger } from '@slipway/runtime'

/** What all parts of retention need. */
export interface DropOptions {
  database: Database
  logger: Logger
  /** Stops the work early. */
  signal: AbortSignal
  quarantine: Quarantine
}

/** Adds an audit record of what retention dropped. Dropped audit records have a record of their own. */
export async function recordDrop(tx: Queryable, what: string, details: Record<string, unknown>): Promise<void> {
  await recordAudit(tx, [
    {
      actor_id: null,
      actor_name: null,
      actor_ip: null,
      action: 'retention.drop',
      resource_type: 'retention',
      resource_id: what,
      tenant_id: null,
      request_id: null,
      details,
    },
  ])
}
