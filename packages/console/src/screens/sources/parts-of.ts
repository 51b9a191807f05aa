import type { Schema } from '@slipway/client'
import type { Kind } from '../../components/source-kinds.ts'

/** A place in a sequence or a solution. */
export interface Part {
  id: string
  requirement: string | undefined
}

/** What the definition of a sequence or a solution consists of; nothing for an action. */
export function partsOf(kind: Kind, definition: unknown): Part[] {
  if (kind === 'solution') {
    const { sequences } = definition as Schema<'SolutionDefinition'>
    return sequences.map(({ sequence_id, version_requirement }) => ({
      id: sequence_id,
      requirement: version_requirement,
    }))
  }
  if (kind === 'sequence') {
    const { actions } = definition as Schema<'SequenceDefinition'>
    return actions.map(({ action_id, version_requirement }) => ({ id: action_id, requirement: version_requirement }))
  }
  return []
}
