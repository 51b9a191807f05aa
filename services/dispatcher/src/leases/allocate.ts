import type { Queryable } from '@slipway/database'
import type { Slot, Snapshot } from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { addLeases, findMoved } from './leases.sql.ts'
import { Moved } from './moved.ts'

export interface Lease extends Slot {
  deployment_id: string
  epoch: number
}

/**
 * Leases the slots that deployments were given. The epoch of each lease is higher than all earlier ones.
 * @throws Moved if a slot is not free any more, or its instance takes no runs, or has other labels or another tenant than in the snapshot
 */
export async function leaseSlots(
  tx: Queryable,
  { instances }: Snapshot,
  wanted: readonly { slot: Slot; deployment_id: string }[],
): Promise<Lease[]> {
  const used = new Set(wanted.map(({ slot }) => slot.instance_id))
  const [rows, moved] = await Promise.all([
    addLeases.all(tx, {
      instance_ids: wanted.map(({ slot }) => slot.instance_id),
      slots: wanted.map(({ slot }) => slot.slot),
      deployment_ids: wanted.map(({ deployment_id }) => deployment_id),
    }),
    // After the leases: a change of an instance waits for its slots, so that it came before them or comes after this transaction.
    findMoved.all(tx, {
      seen: instances.filter(({ id }) => used.has(id)).map(({ id, tenant_id, labels }) => ({ id, tenant_id, labels })),
      version: COMPATIBLE_VERSION,
    }),
  ])
  const epochs = new Map(rows.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  const changed = new Set(moved.map(({ id }) => id))
  const lost = wanted.filter(({ slot, deployment_id }) => changed.has(slot.instance_id) || !epochs.has(deployment_id))
  if (lost.length > 0) throw new Moved(lost.map(({ deployment_id }) => deployment_id))
  return wanted.map(({ slot, deployment_id }) => ({ ...slot, deployment_id, epoch: epochs.get(deployment_id) ?? 0 }))
}
