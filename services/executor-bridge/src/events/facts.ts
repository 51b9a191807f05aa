import { array, int4, type OutboxMessage, type Queryable, statement, uuid } from '@slipway/database'
import type { CommandFailureReason } from '@slipway/domain'
import { saveContactFailures, saveContacts } from '../targets/reached.ts'
import type { FoldedBatch } from './fold.ts'

const findTargetIds = statement({
  name: 'executor-bridge.events.find-target-ids',
  parameters: { deployment_id: uuid, targets: array(int4) },
  row: { target_index: int4, target_id: uuid },
  sql: `SELECT target_index, target_id FROM deployment_targets
     WHERE deployment_id = :deployment_id AND target_index = ANY (:targets)`,
})

/** The command did not start, because the target was not reached. */
const UNREACHED: ReadonlySet<CommandFailureReason> = new Set([
  'target_refused',
  'target_silent',
  'target_name_unknown',
  'target_authentication',
  'target_host_key',
])

/**
 * Stores which targets a run has reached, and why it did not reach others. Returns the events of targets that lists now show
 * differently.
 */
export async function noteTargets(
  tx: Queryable,
  { deploymentId, instanceId }: { deploymentId: string; instanceId: string },
  { seen, hostKeys, steps }: Pick<FoldedBatch, 'seen' | 'hostKeys' | 'steps'>,
): Promise<OutboxMessage[]> {
  const errors = new Map(
    steps.flatMap(({ target, result }) =>
      result?.reason && UNREACHED.has(result.reason) && !seen.has(target)
        ? [[target, result.error_message ?? ''] as const]
        : [],
    ),
  )
  const targets = [...seen, ...errors.keys()]
  if (targets.length === 0) return []
  const rows = await findTargetIds.all(tx, { deployment_id: deploymentId, targets })
  const reached = rows.filter(({ target_index }) => seen.has(target_index))
  const missed = rows.filter(({ target_index }) => !seen.has(target_index))
  await saveContactFailures(
    tx,
    new Map(missed.map(({ target_index, target_id }) => [target_id, errors.get(target_index) ?? ''])),
  )
  return saveContacts(
    tx,
    instanceId,
    reached.map(({ target_index, target_id }) => ({ target_id, host_key: hostKeys.get(target_index) ?? null })),
  )
}
