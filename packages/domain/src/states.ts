export const DEPLOYMENT_STATES = [
  'pending',
  'queued',
  'running',
  'success',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
] as const

export type DeploymentState = (typeof DEPLOYMENT_STATES)[number]

/** Every transition between states. A state without successors is final. */
const DEPLOYMENT_TRANSITIONS: Readonly<Record<DeploymentState, readonly DeploymentState[]>> = {
  pending: ['queued', 'running', 'cancelled'],
  queued: ['running', 'cancelled'],
  running: ['success', 'failed', 'cancelled', 'rolling_back'],
  success: [],
  failed: [],
  cancelled: [],
  rolling_back: ['rolled_back', 'failed'],
  rolled_back: [],
}

export function isFinalDeploymentState(state: DeploymentState): boolean {
  return DEPLOYMENT_TRANSITIONS[state].length === 0
}

export function canTransition(from: DeploymentState, to: DeploymentState): boolean {
  return DEPLOYMENT_TRANSITIONS[from].includes(to)
}

/** States from which `to` may be entered, for guarded updates (`WHERE state = ANY (…)`). */
export function sourcesOf(to: DeploymentState): DeploymentState[] {
  return DEPLOYMENT_STATES.filter((from) => canTransition(from, to))
}

/** The states of the part of a deployment on one target. `packages/engine` computes them. */
export const RELEASE_STATES = [
  'running',
  'applied',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
] as const

export type ReleaseState = (typeof RELEASE_STATES)[number]

/** The state that lists show: where a check has found something else than what was applied, the release has drifted. */
export const SHOWN_RELEASE_STATES = [...RELEASE_STATES, 'drifted'] as const

/** What a check of a target found: exit code 0, exit code 1, or anything else. */
export const CHECK_RESULTS = ['in_sync', 'drifted', 'unknown'] as const

export const PENDING_STATES = ['pending', 'processing', 'dispatched', 'cancelled', 'failed'] as const

/** Status of a pending request. */
export type PendingState = (typeof PENDING_STATES)[number]

/** Every transition between statuses. From `processing` back to `pending` goes a request that could not be dispatched. */
const PENDING_TRANSITIONS: Readonly<Record<PendingState, readonly PendingState[]>> = {
  pending: ['processing', 'cancelled'],
  processing: ['pending', 'dispatched', 'failed', 'cancelled'],
  dispatched: [],
  cancelled: [],
  failed: [],
}

export function isFinalPendingState(state: PendingState): boolean {
  return PENDING_TRANSITIONS[state].length === 0
}

export function canPendingTransition(from: PendingState, to: PendingState): boolean {
  return PENDING_TRANSITIONS[from].includes(to)
}

/** Statuses from which `to` may be entered, for guarded updates. */
export function pendingSourcesOf(to: PendingState): PendingState[] {
  return PENDING_STATES.filter((from) => canPendingTransition(from, to))
}

/** What can keep a request from starting, in the order in which it is shown. */
export const BLOCKER_CODES = [
  'start_time',
  'approval',
  'window',
  'promotion',
  'freeze',
  'instance_pool',
  'no_compatible_instance',
  'tenant_limit',
  'target_lock',
  'capacity',
] as const

export const STEP_STATES = [
  'pending',
  'running',
  'completed',
  'failed',
  'cancelled',
  'skipped',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
] as const

export type StepState = (typeof STEP_STATES)[number]

/**
 * Every transition between states. From `running` back to `pending` goes an attempt that was lost with its instance and is
 * repeated.
 */
const STEP_TRANSITIONS: Readonly<Record<StepState, readonly StepState[]>> = {
  pending: ['running', 'cancelled', 'skipped'],
  running: ['completed', 'failed', 'cancelled', 'pending'],
  completed: ['rolling_back'],
  failed: ['rolling_back'],
  cancelled: [],
  skipped: [],
  rolling_back: ['rolled_back', 'rollback_failed'],
  rolled_back: [],
  rollback_failed: [],
}

/**
 * Whether the step counts as ended in `progress`. A step in rollback counts, because its command has ended and progress never
 * decreases.
 */
export function isEndedStepState(state: StepState): boolean {
  return state !== 'pending' && state !== 'running'
}

export function canStepTransition(from: StepState, to: StepState): boolean {
  return STEP_TRANSITIONS[from].includes(to)
}

/** States from which `to` may be entered, for guarded updates. */
export function stepSourcesOf(to: StepState): StepState[] {
  return STEP_STATES.filter((from) => canStepTransition(from, to))
}
