import { Button, Code, Group, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Pager } from '../../components/pager.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { ShownOnce } from '../administration/shown-once.tsx'
import { TenantName } from '../administration/tenant.tsx'
import { useAddress } from '../administration/use-address.ts'
import { CreateJoinToken } from './create-join-token.tsx'
import { Labels } from './instance-table.tsx'

type Grant = Answer<'listInstanceGrants'>['data'][number]

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The tokens with which instances join. */
export function JoinTokens() {
  const { search, change } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Answer<'createInstanceGrant'> | null>(null)
  const query = { page: search['tokens'] ?? '1', limit: 20 }
  const grants = useRead('listInstanceGrants', { query }, { keep: true, everyMs: 10_000 })
  return (
    <Stack component="section" gap="xs" mt="lg">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Join tokens
        </Title>
        {can('instances:create') && (
          <Button size="xs" onClick={() => setCreating(true)}>
            New join token
          </Button>
        )}
      </Group>
      <Loaded read={grants}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Text size="sm">There is no join token. An instance needs one to join.</Text>
          ) : (
            <>
              <GrantTable grants={data} />
              <Pager meta={meta} onPage={(page) => change({ page: search['page'], tokens: String(page) })} />
            </>
          )
        }
      </Loaded>
      {isCreating && <CreateJoinToken onCreated={setCreated} onClose={() => setCreating(false)} />}
      {created && (
        <ShownOnce
          title="Join token"
          explanation={`${created.uses === 1 ? 'One instance joins' : `${created.uses} instances join`} with this token until ${exact.format(new Date(created.expires_at))}. Store it in a file and start the instance with SLIPWAY_JOIN_TOKEN_FILE. Slipway does not show the token again.`}
          values={[created.token]}
          onClose={() => setCreated(null)}
        />
      )}
    </Stack>
  )
}

function GrantTable({ grants }: { grants: Grant[] }) {
  const { can } = useSession()
  const revoke = useWrite('revokeInstanceGrant', 'listInstanceGrants')
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Id</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Used</Table.Th>
            <Table.Th>Allowed labels</Table.Th>
            <Table.Th>Tenant</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {grants.map((grant) => (
            <Table.Tr key={grant.id}>
              <Table.Td>
                <Code>{grant.id}</Code>
              </Table.Td>
              <Table.Td>
                <StateBadge state={grant.status} />
              </Table.Td>
              <Table.Td>
                {grant.used} of {grant.uses}
              </Table.Td>
              <Table.Td>
                <Labels labels={grant.labels} />
              </Table.Td>
              <Table.Td>{grant.tenant_id === null ? 'all' : <TenantName id={grant.tenant_id} />}</Table.Td>
              <Table.Td>
                <TimeAgo at={grant.expires_at} />
              </Table.Td>
              <Table.Td ta="right">
                {can('instances:delete') && (
                  <ConfirmButton
                    size="compact-xs"
                    variant="default"
                    label="Revoke"
                    question="No instance can join with this token any more. Instances that have joined stay."
                    onConfirm={() => revoke.mutateAsync({ params: { id: grant.id } })}
                  />
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
