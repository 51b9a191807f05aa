import { Button, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { connectionOf, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { Facts, Section } from './section.tsx'

interface Props {
  target: Answer<'getTarget'>
}

const LABELS: Record<string, string> = {
  type: 'Type',
  host: 'Host',
  port: 'Port',
  username: 'User name',
  host_key: 'Host key',
  duration_ms: 'Duration (ms)',
  output_lines: 'Lines of output',
  failure_rate: 'Failure rate',
  exit_code: 'Exit code',
  drop_rate: 'Drop rate',
}

export function TargetConnection({ target }: Props) {
  const { can } = useSession()
  const [isChanging, setChanging] = useState(false)
  const facts = Object.entries(target.connection).map(([name, value]): [string, ReactNode] => [
    LABELS[name] ?? name,
    String(value),
  ])
  return (
    <Section
      title="Connection"
      action={
        can('targets:update') && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label="Change the connection"
            onClick={() => setChanging(true)}
          >
            Change
          </Button>
        )
      }
    >
      <Facts facts={facts} />
      {target.connection.type === 'ssh' && <Text size="sm">Private key and password are stored and never shown.</Text>}
      {isChanging && <ChangeConnection target={target} onClose={() => setChanging(false)} />}
    </Section>
  )
}

function ChangeConnection({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  const [draft, setDraft] = useState(() => draftOf(target.connection))
  const submit = () => {
    const body = { connection: connectionOf(draft) }
    update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal title="Change the connection" submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      <ConnectionFields draft={draft} onChange={setDraft} isStored />
    </FormModal>
  )
}
