import { type CausedMessage, eventMessage, type Queryable, type RowOf } from '@slipway/database'
import type { Slot, Snapshot } from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { addLeases, endLeaseOf, findMoved, type LEASE_ENDS } from './leases.sql.ts'

/**
 * Thrown if what these deployments were given is taken or gone since the snapshot: a slot, its instance, or a target. They are decided
 * again.
 */
export class Moved extends Error {
  override name = 'Moved'
  readonly deploymentIds: readonly string[]

  constructor(deploymentIds: readonly string[]) {
    super(`what these deployments were given is taken meanwhile: ${deploymentIds.join(', ')}`)
    this.deploymentIds = deploymentIds
  }
}

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
  requested: readonly { slot: Slot; deployment_id: string }[],
): Promise<Lease[]> {
  const used = new Set(requested.map(({ slot }) => slot.instance_id))
  const [rows, moved] = await Promise.all([
    addLeases.all(tx, {
      leases: requested.map(({ slot: { instance_id, slot }, deployment_id }) => ({ instance_id, slot, deployment_id })),
    }),
    // After the leases: a change of an instance waits for its slots, so that it came before them or comes after this transaction.
    findMoved.all(tx, {
      seen: instances.filter(({ id }) => used.has(id)).map(({ id, tenant_id, labels }) => ({ id, tenant_id, labels })),
      version: COMPATIBLE_VERSION,
    }),
  ])
  const epochs = new Map(rows.map(({ deployment_id, epoch }) => [deployment_id, epoch]))
  const changed = new Set(moved.map(({ id }) => id))
  const lost = requested.filter(
    ({ slot, deployment_id }) => changed.has(slot.instance_id) || !epochs.has(deployment_id),
  )
  if (lost.length > 0) throw new Moved(lost.map(({ deployment_id }) => deployment_id))
  return requested.map(({ slot, deployment_id }) => ({ ...slot, deployment_id, epoch: epochs.get(deployment_id) ?? 0 }))
}

interface Cause {
  request_id: string | null
  traceparent: string | null
}

/** Wakes each instance with a new lease once. The message has the request id of the instance's first lease. */
export function leasesChanged(leases: readonly { instance_id: string }[], causes: readonly Cause[]): CausedMessage[] {
  const firsts = new Map<string, Cause | undefined>()
  for (const [index, { instance_id }] of leases.entries()) {
    if (!firsts.has(instance_id)) firsts.set(instance_id, causes[index])
  }
  return [...firsts].map(([instance_id, cause]) => ({
    ...eventMessage('lease.changed', { instance_id }),
    ...(cause && { request_id: cause.request_id, traceparent: cause.traceparent }),
  }))
}

export type EndedLease = RowOf<typeof endLeaseOf>

/**
 * Ends the live lease of a deployment and returns it; null if there is none. With `epoch`, ends only that lease. Waits for the
 * event batch in progress; later batches are rejected.
 */
export function endLease(
  tx: Queryable,
  deploymentId: string,
  reason: (typeof LEASE_ENDS)[number],
  epoch: number | null = null,
): Promise<EndedLease | null> {
  return endLeaseOf.first(tx, { deployment_id: deploymentId, reason, epoch })
}
