import type { SyncRequest } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { Problem } from '@slipway/domain'
import type { Bridge } from '../bridge.ts'
import type { Labels } from '../labels.sql.ts'
import { labelBeyond, labelsText } from '../labels.ts'
import { removed } from './credentials.ts'
import * as sql from './instances.sql.ts'
import { setSlots } from './slots.ts'

/**
 * Renews the leases of an instance and stores what it reports about itself. Sends an event to the dispatcher if the instance
 * was lost before, or if its report has changed.
 */
export async function recordHeartbeat(bridge: Bridge, instanceId: string, request: SyncRequest): Promise<void> {
  const { version, capacity, labels, accepts_runs } = request
  const changed = await bridge.database.transaction(async (tx) => {
    await requireAllowed(tx, instanceId, labels)
    const noted = await sql.noteHeartbeat.one(tx, { id: instanceId, version, capacity, labels, accepts_runs })
    if (noted.resized) await setSlots(tx, instanceId, capacity)
    if (!noted.changed) return false
    await enqueue(tx, [eventMessage('instance.updated', { instance_id: instanceId, tenant_id: noted.tenant_id })])
    return true
  })
  if (changed) bridge.wakeRelay()
}

/**
 * Locks the instance, and checks its labels. A removed instance has no leases to renew.
 * @throws Problem FORBIDDEN; Refusal 401
 */
async function requireAllowed(tx: Queryable, instanceId: string, labels: Labels): Promise<void> {
  const instance = await sql.lockAllowedLabels.first(tx, { id: instanceId })
  if (instance === null) throw removed()
  const beyond = labelBeyond(instance.allowed_labels, labels)
  if (beyond === undefined) return
  throw new Problem(
    'FORBIDDEN',
    `The instance claims the label ${beyond}, and it joined with ${labelsText(instance.allowed_labels)}: change SLIPWAY_INSTANCE_LABELS, or remove the instance and let it join with a token that allows the label`,
  )
}
