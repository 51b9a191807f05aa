import { Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Named } from '../../components/named.tsx'
import { CommandLine, Empty } from '../../components/page.tsx'
import { DeleteButton } from '../../components/row-buttons.tsx'
import { NewButton, Section } from '../../components/section.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { ApiKeyForm } from './api-key-form.tsx'

type ApiKey = Answer<'listApiKeys'>['api_keys'][number]

export function ApiKeys() {
  const keys = useRead('listApiKeys', {})
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Answer<'createApiKey'> | null>(null)
  return (
    <Section title="API keys" action={<NewButton label="New API key" onClick={() => setCreating(true)} />}>
      <Loaded read={keys}>
        {({ api_keys }) =>
          api_keys.length === 0 ? (
            <Empty title="There is no API key yet">
              A pipeline or a script uses an API key in place of your password. Create one with only the permissions
              that it needs.
            </Empty>
          ) : (
            <KeyTable keys={api_keys} />
          )
        }
      </Loaded>
      <CommandLine command="slipway keys list" />
      {isCreating && (
        <ApiKeyForm
          onClose={() => setCreating(false)}
          onCreated={(answer) => {
            setCreating(false)
            setCreated(answer)
          }}
        />
      )}
      {created && (
        <ShownOnce
          title={`API key ${created.api_key.name}`}
          explanation={created.warning}
          values={[created.full_key]}
          onClose={() => setCreated(null)}
        />
      )}
    </Section>
  )
}

function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <DataTable
      rows={keys}
      minWidth={760}
      columns={[
        { head: 'Name', cell: ({ name, description }) => <Named name={name}>{description}</Named> },
        { head: 'Key', cell: ({ key_prefix }) => <Code>{key_prefix}</Code> },
        { head: 'Scopes', maxWidth: 320, cell: ({ scopes }) => scopes.join(', ') || 'All your permissions' },
        { head: 'Last use', cell: (key) => <LastUse apiKey={key} /> },
        { head: 'Created', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
        { head: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'Never' : <TimeAgo at={expires_at} />) },
      ]}
      actions={(key) => <Revoke apiKey={key} />}
    />
  )
}

function LastUse({ apiKey: { last_used_at, last_used_ip } }: { apiKey: ApiKey }) {
  if (last_used_at === null) return 'Never'
  return (
    <>
      <TimeAgo at={last_used_at} />
      {last_used_ip && <Text size="xs">from {last_used_ip}</Text>}
    </>
  )
}

function Revoke({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const revoke = useWrite('deleteApiKey', 'listApiKeys')
  return (
    <DeleteButton
      label="Revoke"
      name={name}
      question={`The API key ${name} stops working at once. This cannot be undone.`}
      onConfirm={() => revoke.mutateAsync({ params: { id } })}
    />
  )
}
