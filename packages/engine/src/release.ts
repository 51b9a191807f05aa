import type { DeploymentState, FailureStrategy, ReleaseState } from '@slipway/domain'
import { hasAny, hasRollbackLeft, type Part, wasExecuted } from './part.ts'

/** What the release of a part depends on beside its steps. */
export interface ReleasedDeployment {
  state: DeploymentState
  /** Whether the deployment has ended. */
  isOver: boolean
  failureStrategy: FailureStrategy
}

export interface Release {
  state: ReleaseState
  begunAt: Date
  endedAt: Date | null
}

/** The newest release in this state is in force on its target. */
export const IN_FORCE = 'applied' satisfies ReleaseState

/**
 * The release of a part: what is in force on its target, or on the way there. Null until a command has started. `hasBegun`: whether
 * the release is known already. It stays, because a lost attempt leaves a pending step without a start.
 */
export function releaseOf(part: Part, deployment: ReleasedDeployment, hasBegun: boolean, at: Date): Release | null {
  if (!hasBegun && !hasStarted(part)) return null
  const state = releaseState(part, deployment)
  return { state, begunAt: part.startedAt ?? at, endedAt: endOf(state, part, at) }
}

const hasStarted = ({ states, wasStopped }: Part) =>
  wasStopped || states.some((state) => state !== 'pending' && state !== 'skipped' && state !== 'cancelled')

/** The state of a release that has begun. It depends on the present steps alone, so no order of messages changes the result. */
export function releaseState(part: Part, deployment: ReleasedDeployment): ReleaseState {
  const { states } = part
  if (states.includes('rolling_back')) return 'rolling_back'
  if (hasAny(states, ['rolled_back', 'rollback_failed'])) {
    if (!deployment.isOver && hasRollbackLeft(part)) return 'rolling_back'
    return states.includes('rollback_failed') ? 'rollback_failed' : 'rolled_back'
  }
  if (states.includes('running') || (states.includes('pending') && !deployment.isOver)) return 'running'
  if (wasExecuted(part) && (!states.includes('failed') || deployment.failureStrategy === 'ignore_failures'))
    return IN_FORCE
  return states.includes('cancelled') || deployment.state === 'cancelled' ? 'cancelled' : 'failed'
}

function endOf(state: ReleaseState, { lastEndAt }: Part, at: Date): Date | null {
  if (state === IN_FORCE) return lastEndAt
  return state === 'running' || state === 'rolling_back' ? null : at
}
