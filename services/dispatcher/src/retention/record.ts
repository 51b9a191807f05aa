import { recordAudit } from '@slipway/audit'
import type { Queryable } from '@slipway/database'

/** Leaves a record of what retention dropped, beside the audit log's own, which says where it begins. */
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
