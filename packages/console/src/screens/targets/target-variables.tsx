import { Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import type { ReactNode } from 'react'
import { useWrite } from '../../api/queries.ts'
import { RecordForm } from '../../components/record-form.tsx'
import { Facts } from '../../components/section.tsx'
import { rowsOf, variablesChange } from '../../components/variables.ts'
import { VariablesEditor } from '../../components/variables-editor.tsx'
import { ChangeSection } from './change-section.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetVariables({ target }: Props) {
  const facts = Object.entries(target.variables).map(([name, value]): [string, ReactNode] => [
    name,
    <Code key={name}>{typeof value === 'string' ? value : JSON.stringify(value)}</Code>,
  ])
  return (
    <ChangeSection
      target={target}
      title="Variables"
      changes="the variables"
      form={(onClose) => <ChangeVariables target={target} onClose={onClose} />}
    >
      {facts.length === 0 ? <Text size="sm">No variables.</Text> : <Facts facts={facts} />}
    </ChangeSection>
  )
}

function ChangeVariables({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  return (
    <RecordForm
      kind="target"
      stored={target}
      title="Edit the variables"
      size="xl"
      initial={{ rows: rowsOf(target) }}
      fields={[({ bind }) => <VariablesEditor {...bind('rows', '/variables')} />]}
      writes={[update]}
      save={(_, { rows }, expected) =>
        update.mutate(
          { params: { id: target.id }, body: { ...variablesChange(rows), ...expected } },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    />
  )
}
