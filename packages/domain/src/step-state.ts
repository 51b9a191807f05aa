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
