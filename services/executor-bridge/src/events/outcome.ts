import type { RunOutcome } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { canTransition } from '@slipway/domain'
import { IllegalEvent } from '../callers/refusal.ts'
import type { HeldRun, Progress } from '../runs/progress.ts'

export const isRollingBack = ({ state }: HeldRun, progress: Progress) =>
  progress.rolling_back || state === 'rolling_back'

/**
 * Refuses an end that the states of a deployment do not allow: the dispatcher could never end the deployment so.
 * @throws IllegalEvent
 */
export async function checkOutcome(
  tx: Queryable,
  deploymentId: string,
  outcome: RunOutcome,
  rollingBack: boolean,
): Promise<void> {
  const state =
    rollingBack || (outcome === 'rolled_back' && (await hasRolledBack(tx, deploymentId))) ? 'rolling_back' : 'running'
  if (!canTransition(state, outcome)) {
    throw new IllegalEvent(`A run that is ${state} cannot end with ${outcome}`)
  }
}

/** A run of the release before may have begun its rollback without a note in its progress. */
async function hasRolledBack(tx: Queryable, deploymentId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM steps WHERE deployment_id = $1 AND state IN ('rolling_back', 'rolled_back', 'rollback_failed') LIMIT 1`,
    [deploymentId],
  )
  return rowCount === 1
}
