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
