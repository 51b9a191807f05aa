import { hash } from 'node:crypto'
import type { PlanHead, PlannedAction } from './plan-schema.ts'

type PartVersions = Pick<PlannedAction, 'sequence_id' | 'sequence_version' | 'action_id' | 'action_version'>

const DIGITS = 16

/**
 * A hash of the versions of all actions. A version of a solution or a sequence may contain actions by ranges of versions, so two
 * deployments of the same version may differ. Null for a single action.
 */
export function variantOf(
  { type, version }: Pick<PlanHead['source'], 'type' | 'version'>,
  actions: readonly PartVersions[],
): string | null {
  if (type === 'action') return null
  const parts = actions.map(({ sequence_id, sequence_version, action_id, action_version }) =>
    [sequence_id, sequence_version, action_id, action_version].join(' '),
  )
  return hash('sha256', [version, ...parts].join('\n')).slice(0, DIGITS)
}
