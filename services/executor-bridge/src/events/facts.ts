import type { OutboxMessage, Queryable } from '@slipway/database'
import { noteReached } from '../targets/reached.ts'
import { findTargetIds } from './events.sql.ts'
import type { FoldedBatch } from './fold.ts'

/** Stores which targets a run has reached. Returns the events of targets that lists now show differently. */
export async function noteTargets(
  tx: Queryable,
  deploymentId: string,
  { seen, hostKeys }: Pick<FoldedBatch, 'seen' | 'hostKeys'>,
): Promise<OutboxMessage[]> {
  if (seen.size === 0) return []
  const rows = await findTargetIds.all(tx, { deployment_id: deploymentId, targets: [...seen] })
  return noteReached(
    tx,
    rows.map(({ target_index, target_id }) => ({ target_id, host_key: hostKeys.get(target_index) ?? null })),
  )
}
