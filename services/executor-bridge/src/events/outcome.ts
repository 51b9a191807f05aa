import type { RunOutcome } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { canTransition } from '@slipway/domain'
import { IllegalEvent } from '../callers/refusal.ts'
import type { HeldRun, Progress } from '../runs/progress.ts'
import { findRollback } from './events.sql.ts'

export const isRollingBack = ({ state }: HeldRun, progress: Progress) =>
  progress.rolling_back || state === 'rolling_back'

/**
 * Refuses an end that the states of a deployment do not allow, because the dispatcher could never enter it.
 * @throws IllegalEvent
 */
export async function checkOutcome(
  tx: Queryable,
  deploymentId: string,
  outcome: RunOutcome,
  rollingBack: boolean,
): Promise<void> {
  const state =
    // A run of an earlier build may have begun its rollback without a note in its progress.
    rollingBack || (outcome === 'rolled_back' && (await findRollback.first(tx, { deployment_id: deploymentId })))
      ? 'rolling_back'
      : 'running'
  if (!canTransition(state, outcome)) {
    throw new IllegalEvent(`A run that is ${state} cannot end with ${outcome}`)
  }
}
