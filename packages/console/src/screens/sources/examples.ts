import type { Schema } from '@slipway/client'
import type { Kind } from '../../components/source-kinds.ts'
import { definitionText } from './definition-text.ts'

const action: Schema<'ActionDefinition'> = {
  type: 'script',
  script: 'echo "{{ greeting }} from $SLIPWAY_TARGET_NAME"\nuname -a\n',
  rollback: { script: 'echo "undo on $SLIPWAY_TARGET_NAME"\n' },
  timeout_seconds: 60,
  variables: [{ name: 'greeting', type: 'string', default: 'Hello', description: 'The first word of the output' }],
}

/** A definition that works, as YAML. Sequences and solutions begin with a part that exists, where there is one. */
export function exampleDefinition(kind: Kind, part: Schema<'SourceListItem'> | undefined): string {
  const requirement = part?.latest_version ? { version_requirement: `^${part.latest_version}` } : {}
  const sequence: Schema<'SequenceDefinition'> = { actions: [{ action_id: part?.id ?? '', ...requirement }] }
  const solution: Schema<'SolutionDefinition'> = { sequences: [{ sequence_id: part?.id ?? '', ...requirement }] }
  return definitionText({ action, sequence, solution }[kind])
}
