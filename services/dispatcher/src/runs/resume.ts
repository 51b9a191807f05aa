import { enqueue, type Queryable, writeSteps } from '@slipway/database'
import type { Slot, Snapshot } from '@slipway/engine'
import { deploymentUpdated, type LockedDeployment } from '../deployments/transitions.ts'
import { leaseSlots, leasesChanged } from '../leases/leases.ts'
import { moveLocks } from '../locks/locks.sql.ts'
import { lockOrphans } from './runs.sql.ts'

const LOST_MESSAGE = 'the instance was lost while the command ran'

/**
 * Gives deployments that lost their instance to others, under a higher epoch. Returns how many: a deployment that was cancelled since
 * the snapshot stays as it is.
 * @throws Moved if a slot is not free any more
 */
export async function resume(
  tx: Queryable,
  snapshot: Snapshot,
  given: readonly { request: { id: string }; slot: Slot }[],
): Promise<number> {
  if (given.length === 0) return 0
  const deployments = await lockOrphans.all(tx, { ids: given.map(({ request }) => request.id) })
  const locked = new Map(deployments.map((deployment) => [deployment.id, deployment]))
  const requested = given.flatMap(({ request: { id }, slot }) => (locked.has(id) ? [{ slot, deployment_id: id }] : []))
  if (requested.length === 0) return 0
  const leases = await leaseSlots(tx, snapshot, requested)
  const causes = leases.flatMap(({ deployment_id }) => locked.get(deployment_id) ?? [])
  await moveLocks.run(tx, { leases })
  const deploymentIds = deployments.map(({ id }) => id)
  await writeSteps(tx, { kind: 'attempts lost', deploymentIds, message: LOST_MESSAGE })
  await enqueue(tx, [
    ...leasesChanged(leases, causes),
    ...deployments.flatMap((deployment) =>
      deploymentUpdated(deployment, deployment.state).map((message) => ({ ...message, ...causeOf(deployment) })),
    ),
  ])
  return requested.length
}

const causeOf = ({ request_id, traceparent }: LockedDeployment) => ({ request_id, traceparent })
