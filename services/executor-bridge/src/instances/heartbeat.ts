import type { SyncRequest } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { LOST_AFTER } from '@slipway/views'
import type { Bridge } from '../bridge.ts'
import { Refusal } from '../callers/refusal.ts'
import { type AllowedLabels, type Labels, labelBeyond, labelsText } from '../labels.ts'
import { removed } from './credentials.ts'
import { setSlots } from './slots.ts'

/**
 * Renews the leases of an instance and keeps what it says of itself. Tells the dispatcher when the instance may be given
 * work again, or is another than before.
 */
export async function recordHeartbeat(bridge: Bridge, instanceId: string, request: SyncRequest): Promise<void> {
  const { version, capacity, labels, accepts_runs } = request
  const changed = await bridge.database.transaction(async (tx) => {
    await requireAllowed(tx, instanceId, labels)
    // While the instance says the same labels, those that an administrator set stay.
    const { rows } = await tx.query<{ resized: boolean; changed: boolean; tenant_id: string | null }>(
      `UPDATE instances i SET last_heartbeat_at = now(), version = $2, capacity = $3, accepts_runs = $5,
         labels = CASE WHEN i.enrolled_labels = $4::jsonb THEN i.labels ELSE $4::jsonb END, enrolled_labels = $4::jsonb
       FROM (SELECT * FROM instances WHERE id = $1) before
       WHERE i.id = before.id
       RETURNING before.capacity <> $3 AS resized, before.tenant_id,
         (before.version, before.capacity, before.enrolled_labels, before.accepts_runs) IS DISTINCT FROM ($2, $3, $4::jsonb, $5)
           OR before.last_heartbeat_at IS NULL OR before.last_heartbeat_at < now() - interval '${LOST_AFTER}' AS changed`,
      [instanceId, version, capacity, JSON.stringify(labels), accepts_runs],
    )
    if (rows[0]?.resized) await setSlots(tx, instanceId, capacity)
    if (!rows[0]?.changed) return false
    await enqueue(tx, [eventMessage('instance.updated', { instance_id: instanceId, tenant_id: rows[0].tenant_id })])
    return true
  })
  if (changed) bridge.wakeRelay()
}

/**
 * Locks the instance. One that was removed in this moment has no leases to renew.
 * @throws Refusal 401, 403
 */
async function requireAllowed(tx: Queryable, instanceId: string, labels: Labels): Promise<void> {
  const { rows } = await tx.query<{ allowed_labels: AllowedLabels }>(
    'SELECT allowed_labels FROM instances WHERE id = $1 AND removed_at IS NULL FOR UPDATE',
    [instanceId],
  )
  const [instance] = rows
  if (instance === undefined) throw removed()
  const beyond = labelBeyond(instance.allowed_labels, labels)
  if (beyond === undefined) return
  throw new Refusal(
    403,
    'FORBIDDEN',
    `The instance claims the label ${beyond}, and it joined with ${labelsText(instance.allowed_labels)}: change SLIPWAY_INSTANCE_LABELS, or remove the instance and let it join with a token that allows the label`,
  )
}
