import type { RollbackStrategy, StepState } from '@slipway/domain'

/** The steps of a deployment on one target, as the states that occur among them. Every rule about a part needs no more. */
export interface Part {
  /** The states of all its steps. */
  states: readonly StepState[]
  /** The states of its steps whose action has a rollback script. */
  revertibleStates: readonly StepState[]
  /** Whether a step was cancelled after its command had started. */
  wasStopped: boolean
  /** When its first command started. */
  startedAt: Date | null
  /** When its last command ended. */
  lastEndAt: Date | null
}

/** `revertible`: every step has ended, and a rollback may still come. */
export type PartState = 'open' | 'revertible' | 'over'

const OPEN: readonly StepState[] = ['pending', 'running', 'rolling_back']
const FAILED: readonly StepState[] = ['failed', 'rolled_back', 'rollback_failed']
/** A command ran to its end. Only such a step is rolled back. */
const EXECUTED: readonly StepState[] = ['completed', 'failed']

export const hasAny = (states: readonly StepState[], some: readonly StepState[]) =>
  states.some((state) => some.includes(state))

/** Whether a step is left that a rollback would revert. */
export const hasRollbackLeft = ({ revertibleStates }: Part) => hasAny(revertibleStates, EXECUTED)

export const wasExecuted = ({ states }: Part) => states.every((state) => EXECUTED.includes(state))

/**
 * Whether the part of a deployment that goes on is over: its steps have ended, and no rollback can reach them. Whether a
 * rollback comes is known only when the deployment ends.
 */
export function partState(part: Part, strategy: RollbackStrategy): PartState {
  if (hasAny(part.states, OPEN)) return 'open'
  return hasRollbackLeft(part) && mayRollBack(part, strategy) ? 'revertible' : 'over'
}

function mayRollBack({ states }: Part, strategy: RollbackStrategy): boolean {
  switch (strategy) {
    case 'none':
      return false
    case 'failed_target_only':
      return hasAny(states, FAILED)
    default:
      return true
  }
}
