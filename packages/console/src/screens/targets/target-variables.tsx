import { Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import type { ReactNode } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { Facts } from '../../components/section.tsx'
import { useVariables } from '../../components/variables.ts'
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
  const variables = useVariables(target)
  const submit = () => {
    const body = variables.fieldsToSend()
    if (body !== null) update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal
      title="Change the variables"
      submitLabel="Save"
      size="xl"
      writes={[update, variables]}
      onSubmit={submit}
      onClose={onClose}
    >
      <VariablesEditor rows={variables.rows} onChange={variables.setRows} />
    </FormModal>
  )
}
