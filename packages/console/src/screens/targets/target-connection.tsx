import { Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { Facts } from '../../components/section.tsx'
import { ChangeSection } from './change-section.tsx'
import { connectionOf, connectionProblem, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'

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
  const facts = Object.entries(target.connection).map(([name, value]): [string, ReactNode] => [
    LABELS[name] ?? name,
    String(value),
  ])
  return (
    <ChangeSection
      target={target}
      title="Connection"
      changes="the connection"
      form={(onClose) => <ChangeConnection target={target} onClose={onClose} />}
    >
      <Facts facts={facts} />
      {target.connection.type === 'ssh' && <Text size="sm">Private key and password are stored and never shown.</Text>}
    </ChangeSection>
  )
}

function ChangeConnection({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  const [draft, setDraft] = useState(() => draftOf(target.connection))
  const [expected_updated_at] = useState(target.updated_at)
  const submit = () => {
    const body = { connection: connectionOf(draft), expected_updated_at }
    update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal title="Edit the connection" submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      {(problemAt) => (
        <ConnectionFields
          draft={draft}
          onChange={setDraft}
          problem={connectionProblem(problemAt)}
          problemAt={problemAt}
          isStored
        />
      )}
    </FormModal>
  )
}
