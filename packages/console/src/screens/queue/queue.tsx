import { Anchor, Group, NumberInput, Stack, Table, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

type Waiting = Answer<'listPending'>[number]

export function Queue() {
  useLive('listPending')
  const pending = useRead('listPending', { query: { status: 'pending' } })
  return (
    <Page title="Queue" command="slipway queue">
      <Loaded read={pending}>
        {(waiting) =>
          waiting.length === 0 ? (
            <Empty title="Nothing waits">
              Deployments wait here while no orchestration instance has a free slot, or while a freeze is in force.
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={760}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Place</Table.Th>
                    <Table.Th>Priority</Table.Th>
                    <Table.Th>Why it waits</Table.Th>
                    <Table.Th>Where</Table.Th>
                    <Table.Th>By</Table.Th>
                    <Table.Th>Since</Table.Th>
                    <Table.Th>Starts about</Table.Th>
                    <Table.Th>
                      <span className="visually-hidden">Actions</span>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {waiting.map((request) => (
                    <Row key={request.id} request={request} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Loaded>
    </Page>
  )
}

function Row({ request }: { request: Waiting }) {
  const { can } = useSession()
  const cancel = useWrite('cancelPending', 'listPending')
  return (
    <Table.Tr>
      <Table.Td>{request.position ?? '–'}</Table.Td>
      <Table.Td>{request.priority}</Table.Td>
      <Table.Td>
        <Text size="sm">{request.waiting_reason ?? request.error_message ?? request.status}</Text>
        {request.deployment_id && (
          <Anchor component={Link} to={`/deployments/${request.deployment_id}`} size="sm">
            its deployment
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>{[request.tenant_name, request.environment_name].filter(Boolean).join(' / ') || '–'}</Table.Td>
      <Table.Td>{request.triggered_by ?? '–'}</Table.Td>
      <Table.Td>
        <TimeAgo at={request.queued_at} />
      </Table.Td>
      <Table.Td>
        <TimeAgo at={request.estimated_start} />
      </Table.Td>
      <Table.Td>
        {can('deployments:cancel') && request.status === 'pending' && (
          <Group gap={4} wrap="nowrap" justify="flex-end">
            <Priority request={request} />
            <ConfirmButton
              size="compact-xs"
              variant="default"
              label="Cancel request"
              question="The request leaves the queue and does not start."
              onConfirm={() => cancel.mutateAsync({ params: { id: request.id } })}
            />
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function Priority({ request }: { request: Waiting }) {
  const [priority, setPriority] = useState<number | string>(request.priority)
  const update = useWrite('updatePending', 'listPending')
  return (
    <ConfirmButton
      size="compact-xs"
      variant="default"
      label="Change priority"
      question="The request with the highest priority starts first; among equals, the oldest."
      inputs={
        <Stack>
          <NumberInput label="Priority" min={-100} max={100} value={priority} onChange={setPriority} />
        </Stack>
      }
      onConfirm={() => update.mutateAsync({ params: { id: request.id }, body: { priority: Number(priority) } })}
    />
  )
}
