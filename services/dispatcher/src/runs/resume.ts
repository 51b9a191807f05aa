import { attempt, enqueue, type Quarantine, type Queryable } from '@slipway/database'
import { deploymentUpdated, type LockedDeployment } from '../deployments/transitions.ts'
import { insertLeases, lockFreeSlots } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { findOrphans, lockOrphans, resolveLostSteps } from './runs.sql.ts'

const LOST_MESSAGE = 'the instance was lost while the command ran'

/**
 * Gives deployments that lost their instance to other instances with free slots, under a higher epoch. With a tenant: its
 * deployments, to its own instances. Otherwise: all, to instances that serve all tenants. Returns how many. A deployment that
 * fails does not stop the others.
 */
export async function resumeOrphans(
  tx: Queryable,
  { limit, tenantId, quarantine }: { limit: number; tenantId: string | null; quarantine: Quarantine },
): Promise<number> {
  const orphans = await findOrphans.all(tx, { limit, tenant_id: tenantId, except: quarantine.held })
  const resumed = await quarantine.together(
    orphans.map(({ id }) => id),
    (id) => id,
    (ids) => attempt(tx, (inner) => resume(inner, ids, tenantId)),
  )
  return resumed.reduce((total, count) => total + count, 0)
}

async function resume(tx: Queryable, ids: readonly string[], tenantId: string | null): Promise<number> {
  const slots = await lockFreeSlots(tx, ids.length, tenantId)
  // Slots are locked first, so check again: a deployment may have been cancelled since.
  const deployments = await lockOrphans.all(tx, { ids: ids.slice(0, slots.length) })
  const wanted = deployments.flatMap(({ id }, index) => {
    const slot = slots[index]
    return slot ? [{ slot, deployment_id: id }] : []
  })
  if (wanted.length === 0) return 0
  const leases = await insertLeases(tx, wanted)
  await resolveLostSteps.run(tx, { deployment_ids: deployments.map(({ id }) => id), message: LOST_MESSAGE })
  await enqueue(tx, [
    ...leasesChanged(leases, deployments),
    ...deployments.flatMap((deployment) =>
      deploymentUpdated(deployment, deployment.state).map((message) => ({ ...message, ...causeOf(deployment) })),
    ),
  ])
  return wanted.length
}

const causeOf = ({ request_id, traceparent }: LockedDeployment) => ({ request_id, traceparent })
