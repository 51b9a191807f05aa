import { attempt, enqueue, type Quarantine, type Queryable } from '@slipway/database'
import { deploymentUpdated, type LockedDeployment } from '../deployments/transitions.ts'
import { insertLeases, lockFreeSlots } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { ORPHANS } from '../leases/orphans.ts'

const LOST_MESSAGE = 'the instance was lost while the command ran'

/**
 * Gives deployments whose instance was lost to other instances, under a higher epoch, as far as slots are free: those of this
 * tenant to its own instances, or without a tenant any to instances that serve all. Gives how many. A deployment that
 * cannot be given to another does not stop the others.
 */
export async function resumeOrphans(
  tx: Queryable,
  { limit, tenantId, quarantine }: { limit: number; tenantId: string | null; quarantine: Quarantine },
): Promise<number> {
  const { rows: orphans } = await tx.query<{ id: string }>(
    `SELECT d.id FROM ${ORPHANS} AND ($2::uuid IS NULL OR d.tenant_id = $2) AND d.id <> ALL($3::uuid[])
      ORDER BY (d.plan_head #>> '{options,priority}')::int DESC, d.created_at, d.id LIMIT $1`,
    [limit, tenantId, quarantine.held],
  )
  const resumed = await quarantine.together(
    orphans.map(({ id }) => id),
    (id) => id,
    (ids) => attempt(tx, (inner) => resume(inner, ids, tenantId)),
  )
  return resumed.reduce((total, count) => total + count, 0)
}

async function resume(tx: Queryable, ids: readonly string[], tenantId: string | null): Promise<number> {
  const slots = await lockFreeSlots(tx, ids.length, tenantId)
  // Locked only now (slots come first) and looked at again: one may have been cancelled since.
  const { rows: deployments } = await tx.query<LockedDeployment>(
    `SELECT d.id, d.tenant_id, d.state, d.request_id, d.traceparent FROM ${ORPHANS} AND d.id = ANY($1::uuid[])
      ORDER BY d.id FOR UPDATE OF d SKIP LOCKED`,
    [ids.slice(0, slots.length)],
  )
  const wanted = deployments.flatMap(({ id }, index) => {
    const slot = slots[index]
    return slot ? [{ slot, deployment_id: id }] : []
  })
  if (wanted.length === 0) return 0
  const leases = await insertLeases(tx, wanted)
  await resolveLostSteps(
    tx,
    deployments.map(({ id }) => id),
  )
  await enqueue(tx, [
    ...leasesChanged(leases, deployments),
    ...deployments.map((deployment) => ({
      ...deploymentUpdated(deployment, deployment.state),
      ...causeOf(deployment),
    })),
  ])
  return wanted.length
}

const causeOf = ({ request_id, traceparent }: LockedDeployment) => ({ request_id, traceparent })

/**
 * What a command that was running when its instance was lost came to is unknown: a failed attempt. It is tried again
 * where retries are left. A rollback that was running is done again: its steps stay as they are.
 */
async function resolveLostSteps(tx: Queryable, deploymentIds: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE steps s
        SET state = CASE WHEN s.retry_count < a.max_retries THEN 'pending'::step_state ELSE 'failed' END,
            retry_count = CASE WHEN s.retry_count < a.max_retries THEN s.retry_count + 1 ELSE s.retry_count END,
            ever_failed = s.ever_failed OR s.retry_count >= a.max_retries,
            error_message = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE $2 END,
            end_confirmed = CASE WHEN s.retry_count < a.max_retries THEN s.end_confirmed ELSE false END,
            started_at = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE s.started_at END,
            completed_at = CASE WHEN s.retry_count < a.max_retries THEN NULL ELSE clock_timestamp() END
       FROM deployment_actions a
      WHERE s.deployment_id = ANY($1::uuid[]) AND s.state = 'running'
        AND a.deployment_id = s.deployment_id AND a.action_index = s.action_index`,
    [deploymentIds, LOST_MESSAGE],
  )
}
