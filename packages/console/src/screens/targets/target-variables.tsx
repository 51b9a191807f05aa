import { Button, Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { useVariables } from '../environments/variables.ts'
import { VariablesEditor } from '../environments/variables-editor.tsx'
import { Facts, Section } from './section.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetVariables({ target }: Props) {
  const { can } = useSession()
  const [isChanging, setChanging] = useState(false)
  const facts = Object.entries(target.variables).map(([name, value]): [string, ReactNode] => [
    name,
    <Code key={name}>{typeof value === 'string' ? value : JSON.stringify(value)}</Code>,
  ])
  return (
    <Section
      title="Variables"
      action={
        can('targets:update') && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label="Change the variables"
            onClick={() => setChanging(true)}
          >
            Change
          </Button>
        )
      }
    >
      {facts.length === 0 ? <Text size="sm">No variables.</Text> : <Facts facts={facts} />}
      {isChanging && <ChangeVariables target={target} onClose={() => setChanging(false)} />}
    </Section>
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
