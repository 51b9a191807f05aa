import { attempt, enqueue, type Quarantine, type Queryable, writeSteps } from '@slipway/database'
import type { MaybeSelector } from '@slipway/domain'
import { deploymentUpdated, type LockedDeployment } from '../deployments/transitions.ts'
import { insertLeases, lockFreeSlots, type Slot } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { FreeSlots, Pools } from '../leases/pools.ts'
import { moveLocks } from '../locks/locks.sql.ts'
import { findOrphanSelectors, findOrphans, lockOrphans } from './runs.sql.ts'

const LOST_MESSAGE = 'the instance was lost while the command ran'

interface Resuming {
  limit: number
  tenantId: string | null
  quarantine: Quarantine
}

/**
 * Gives deployments that lost their instance to other instances with free slots, under a higher epoch. With a tenant: its
 * deployments, to its own instances. Otherwise: all, to instances that serve all tenants. Returns how many. A deployment that
 * fails does not stop the others, nor do deployments that no instance matches.
 */
export async function resumeOrphans(tx: Queryable, resuming: Resuming): Promise<number> {
  const selectors = (await findOrphanSelectors.all(tx)).map(({ selector }) => selector)
  const isPooled = selectors.some((selector) => selector !== null)
  const pools = isPooled ? await Pools.read(tx, resuming.tenantId) : null
  let resumed = 0
  for (const selector of selectors) resumed += await resumePool(tx, selector, pools, resuming)
  return resumed
}

async function resumePool(
  tx: Queryable,
  selector: MaybeSelector,
  pools: Pools | null,
  { limit, tenantId, quarantine }: Resuming,
): Promise<number> {
  if (pools?.countFree(selector) === 0) return 0
  const orphans = await findOrphans.all(tx, { limit, tenant_id: tenantId, selector, except: quarantine.held })
  const lockSlots = async (inner: Queryable, count: number): Promise<Slot[]> => {
    if (selector === null || pools === null) return lockFreeSlots(inner, count, tenantId)
    const free = await FreeSlots.withLabels(inner, await pools.lockSlots(inner, [selector], count))
    return Array.from({ length: count }).flatMap(() => free.take(selector) ?? [])
  }
  const resumed = await quarantine.together(
    orphans.map(({ id }) => id),
    (id) => id,
    (ids) => attempt(tx, (inner) => resume(inner, ids, lockSlots)),
  )
  return resumed.reduce((total, count) => total + count, 0)
}

type LockSlots = (tx: Queryable, count: number) => Promise<Slot[]>

async function resume(tx: Queryable, ids: readonly string[], lockSlots: LockSlots): Promise<number> {
  const slots = await lockSlots(tx, ids.length)
  // Slots are locked first, so check again: a deployment may have been cancelled since.
  const deployments = await lockOrphans.all(tx, { ids: ids.slice(0, slots.length) })
  const wanted = deployments.flatMap(({ id }, index) => {
    const slot = slots[index]
    return slot ? [{ slot, deployment_id: id }] : []
  })
  if (wanted.length === 0) return 0
  const leases = await insertLeases(tx, wanted)
  await moveLocks.run(tx, {
    deployment_ids: leases.map(({ deployment_id }) => deployment_id),
    epochs: leases.map(({ epoch }) => epoch),
  })
  const deploymentIds = deployments.map(({ id }) => id)
  await writeSteps(tx, { kind: 'attempts lost', deploymentIds, message: LOST_MESSAGE })
  await enqueue(tx, [
    ...leasesChanged(leases, deployments),
    ...deployments.flatMap((deployment) =>
      deploymentUpdated(deployment, deployment.state).map((message) => ({ ...message, ...causeOf(deployment) })),
    ),
  ])
  return wanted.length
}

const causeOf = ({ request_id, traceparent }: LockedDeployment) => ({ request_id, traceparent })
