import { Button, Code, Group, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { CommandLine, Empty } from '../../components/page.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { ShownOnce } from '../administration/shown-once.tsx'
import { ApiKeyForm } from './api-key-form.tsx'

type ApiKey = Answer<'listApiKeys'>['api_keys'][number]

export function ApiKeys() {
  const keys = useRead('listApiKeys', {})
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Answer<'createApiKey'> | null>(null)
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between">
        <Title order={2} size="h4">
          API keys
        </Title>
        <Button size="xs" onClick={() => setCreating(true)}>
          Create API key
        </Button>
      </Group>
      <Loaded read={keys}>
        {({ api_keys }) =>
          api_keys.length === 0 ? (
            <Empty title="No API keys">
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
    </Stack>
  )
}

function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th>Scopes</Table.Th>
            <Table.Th>Last use</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const revoke = useWrite('deleteApiKey', 'listApiKeys')
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {apiKey.name}
        </Text>
        {apiKey.description && <Text size="xs">{apiKey.description}</Text>}
      </Table.Td>
      <Table.Td>
        <Code>{apiKey.key_prefix}</Code>
      </Table.Td>
      <Table.Td maw={320}>
        <Text size="sm">{apiKey.scopes.join(', ') || 'All your permissions'}</Text>
      </Table.Td>
      <Table.Td>
        {apiKey.last_used_at === null ? 'Never' : <TimeAgo at={apiKey.last_used_at} />}
        {apiKey.last_used_ip && <Text size="xs">from {apiKey.last_used_ip}</Text>}
      </Table.Td>
      <Table.Td>
        <TimeAgo at={apiKey.created_at} />
      </Table.Td>
      <Table.Td>{apiKey.expires_at === null ? 'Never' : <TimeAgo at={apiKey.expires_at} />}</Table.Td>
      <Table.Td ta="right">
        <ConfirmButton
          size="compact-xs"
          variant="default"
          label="Revoke"
          aria-label={`Revoke ${apiKey.name}`}
          question={`The API key ${apiKey.name} stops working at once. This cannot be undone.`}
          onConfirm={() => revoke.mutateAsync({ params: { id: apiKey.id } })}
        />
      </Table.Td>
    </Table.Tr>
  )
}
