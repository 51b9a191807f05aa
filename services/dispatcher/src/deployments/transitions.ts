import { eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import { type DeploymentState, isFinalDeploymentState, sourcesOf } from '@slipway/domain'

export interface LockedDeployment {
  id: string
  tenant_id: string | null
  state: DeploymentState
  request_id: string | null
  traceparent: string | null
}

/**
 * Locks a deployment, or returns undefined when there is none. Everything that changes a deployment begins here, so the
 * order of locks is the same everywhere: slots, pending requests, deployment, lease, steps.
 */
export async function lockDeployment(tx: Queryable, id: string): Promise<LockedDeployment | undefined> {
  const { rows } = await tx.query<LockedDeployment>(
    'SELECT id, tenant_id, state, request_id, traceparent FROM deployments WHERE id = $1 FOR UPDATE',
    [id],
  )
  return rows[0]
}

export interface Transition {
  to: DeploymentState
  /** What the history says of it. */
  message: string
  error_message?: string | null
  cancelled_by?: string
  cancel_reason?: string | null
}

/**
 * Moves a deployment to another state and notes it in its history, if its state allows; false when it does not.
 * Entering a final state sets `completed_at`.
 */
export async function transition(tx: Queryable, id: string, { to, message, ...rest }: Transition): Promise<boolean> {
  const { rowCount } = await tx.query(
    `WITH old AS (SELECT id, state FROM deployments WHERE id = $1 AND state = ANY($3::deployment_state[]) FOR UPDATE),
          moved AS (
            UPDATE deployments d
               SET state = $2::deployment_state,
                   completed_at = CASE WHEN $4 THEN clock_timestamp() END,
                   error_message = $6,
                   cancel_reason = $7,
                   cancelled_by = $8
              FROM old WHERE d.id = old.id
            RETURNING d.id, old.state AS from_state
          )
     INSERT INTO deployment_transitions (deployment_id, number, from_state, to_state, message)
     SELECT moved.id, (SELECT count(*) FROM deployment_transitions t WHERE t.deployment_id = moved.id),
            moved.from_state, $2::deployment_state, $5
       FROM moved`,
    [
      id,
      to,
      sourcesOf(to),
      isFinalDeploymentState(to),
      message,
      rest.error_message ?? null,
      rest.cancel_reason ?? null,
      rest.cancelled_by ?? null,
    ],
  )
  return rowCount === 1
}

/** Tells that a deployment is in another state. */
export const deploymentUpdated = (
  { id, tenant_id }: Pick<LockedDeployment, 'id' | 'tenant_id'>,
  state: DeploymentState,
): OutboxMessage => eventMessage('deployment.updated', { deployment_id: id, tenant_id, state })
