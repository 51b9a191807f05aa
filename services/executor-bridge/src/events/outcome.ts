import type { RunOutcome } from '@slipway/contracts'
import { canTransition } from '@slipway/domain'
import { IllegalEvent } from '../callers/refusal.ts'
import type { HeldRun, Progress } from '../runs/progress.ts'

export const isRollingBack = ({ state }: HeldRun, progress: Progress) =>
  progress.rolling_back || state === 'rolling_back'

/**
 * Refuses an end that the states of a deployment do not allow, because the dispatcher could never enter it.
 * @throws IllegalEvent
 */
export function checkOutcome(outcome: RunOutcome, rollingBack: boolean): void {
  const state = rollingBack ? 'rolling_back' : 'running'
  if (!canTransition(state, outcome)) {
    throw new IllegalEvent(`A run that is ${state} cannot end with ${outcome}`)
  }
}
