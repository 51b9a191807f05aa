import type { EventBody } from '@slipway/contracts'
import { type Database, enqueue, eventMessage } from '@slipway/database'
import { lockDeployment } from '../deployments/transitions.ts'
import { endLease } from '../leases/leases.ts'

/**
 * Takes a run back from an instance that cannot start it now. The lease ends as lost, so another instance gets the run. No
 * command has run, so no attempt is used. Returns false if the epoch is over.
 */
export function declineRun(database: Database, { deployment_id, epoch }: EventBody<'run.declined'>): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await lockDeployment(tx, deployment_id))) return false
    const lease = await endLease(tx, deployment_id, 'lost', epoch)
    if (!lease) return false
    await enqueue(tx, [eventMessage('slot.freed', { instance_id: lease.instance_id })])
    return true
  })
}
