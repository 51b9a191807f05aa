import { Code, Text } from '@mantine/core'
import type { Answer, Schema } from '@slipway/client'
import { useState } from 'react'
import { ApiKeyForm } from './api-key-form.tsx'
import { DataTable } from './data-table.tsx'
import { LimitWords } from './limit-words.tsx'
import { Loaded } from './loaded.tsx'
import { Named } from './named.tsx'
import { CommandLine, Empty } from './page.tsx'
import { DeleteButton } from './row-buttons.tsx'
import { NewButton, Section } from './section.tsx'
import { ShownOnce } from './shown-once.tsx'
import { TimeAgo } from './time-ago.tsx'

type ApiKey = Answer<'listApiKeys'>['api_keys'][number]
type Created = Answer<'createApiKey'>
type Then = { onSuccess: (answer: Created) => void }

interface Props {
  read: { data: Answer<'listApiKeys'> | undefined; error: Error | null }
  /** What an API key is for, where there is none yet. */
  purpose: string
  /** Whose permissions a key has without scopes, such as "all your permissions". */
  all: string
  /** The permissions that a new key can have. */
  scopes: readonly string[]
  command: string
  create: { isPending: boolean; error: Error | null; reset: () => void }
  /** Absent where the user may only look. */
  onCreate?: ((key: Schema<'CreateApiKey'>, then: Then) => void) | undefined
  onRevoke?: ((id: string) => Promise<unknown>) | undefined
}

/** The API keys of a user. A new key is shown once. */
export function ApiKeys({ read, purpose, all, scopes, command, create, onCreate, onRevoke }: Props) {
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Created | null>(null)
  const open = () => {
    create.reset()
    setCreating(true)
  }
  const show = (answer: Created) => {
    setCreating(false)
    setCreated(answer)
  }
  return (
    <Section title="API keys" action={onCreate && <NewButton label="New API key" onClick={open} />}>
      <Loaded read={read}>
        {({ api_keys }) =>
          api_keys.length === 0 ? (
            <Empty title="There is no API key yet">{purpose}</Empty>
          ) : (
            <DataTable
              rows={api_keys}
              columns={[
                {
                  head: 'Name',
                  copied: ({ name }) => name,
                  cell: ({ name, description }) => <Named name={name}>{description}</Named>,
                },
                { head: 'Key', width: 120, cell: ({ key_prefix }) => <Code>{key_prefix}</Code> },
                { head: 'Scopes', wraps: true, cell: (key) => key.scopes.join(', ') || capitalized(all) },
                { head: 'Acts', wraps: true, cell: (key) => <LimitWords limits={key} none="everywhere" /> },
                { head: 'Last use', width: 150, cell: (key) => <LastUse apiKey={key} /> },
                { head: 'Created', width: 112, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
                {
                  head: 'Expires',
                  width: 112,
                  cell: ({ expires_at: at }) => (at === null ? 'Never' : <TimeAgo at={at} />),
                },
              ]}
              actions={onRevoke && ((key) => <Revoke apiKey={key} onRevoke={onRevoke} />)}
            />
          )
        }
      </Loaded>
      <CommandLine command={command} />
      {isCreating && onCreate && (
        <ApiKeyForm
          all={all}
          scopes={scopes}
          create={create}
          onSubmit={(key) => onCreate(key, { onSuccess: show })}
          onClose={() => setCreating(false)}
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

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function LastUse({ apiKey: { last_used_at, last_used_ip } }: { apiKey: ApiKey }) {
  if (last_used_at === null) return 'Never'
  return (
    <>
      <TimeAgo at={last_used_at} />
      {last_used_ip && <Text size="xs">from {last_used_ip}</Text>}
    </>
  )
}

interface RevokeProps {
  apiKey: ApiKey
  onRevoke: (id: string) => Promise<unknown>
}

function Revoke({ apiKey: { id, name }, onRevoke }: RevokeProps) {
  return (
    <DeleteButton
      label="Revoke"
      name={name}
      question={`The API key ${name} stops working at once. This cannot be undone.`}
      onConfirm={() => onRevoke(id)}
    />
  )
}
