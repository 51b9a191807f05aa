import { eventMessage, type OutboxMessage, type Queryable, type RowOf } from '@slipway/database'
import { type DeploymentState, isFinalDeploymentState, sourcesOf } from '@slipway/domain'
import { lockDeploymentRow, moveDeployment } from './deployments.sql.ts'

export type LockedDeployment = RowOf<typeof lockDeploymentRow>

/**
 * Locks a deployment; null if it does not exist. Every change of a deployment locks in the same order: slots, pending requests,
 * deployment, lease, steps.
 */
export const lockDeployment = (tx: Queryable, id: string): Promise<LockedDeployment | null> =>
  lockDeploymentRow.first(tx, { id })

export interface Transition {
  to: DeploymentState
  /** The message in the history of the deployment. */
  message: string
  error_message?: string | null
  cancelled_by?: string
  cancel_reason?: string | null
}

/**
 * Moves a deployment to another state and adds the change to its history. Returns false if its state does not allow that. A
 * final state sets `completed_at`.
 */
export async function transition(tx: Queryable, id: string, { to, message, ...rest }: Transition): Promise<boolean> {
  const moved = await moveDeployment.run(tx, {
    id,
    from: sourcesOf(to),
    to,
    is_final: isFinalDeploymentState(to),
    message,
    error_message: rest.error_message ?? null,
    cancel_reason: rest.cancel_reason ?? null,
    cancelled_by: rest.cancelled_by ?? null,
  })
  return moved === 1
}

/** The event message for a new state. Checks have no events. */
export const deploymentUpdated = (
  { id, tenant_id, is_check }: Pick<LockedDeployment, 'id' | 'tenant_id' | 'is_check'>,
  state: DeploymentState,
): OutboxMessage[] => (is_check ? [] : [eventMessage('deployment.updated', { deployment_id: id, tenant_id, state })])
