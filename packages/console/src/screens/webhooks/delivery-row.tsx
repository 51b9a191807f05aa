import { ActionIcon, Button, Code, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

const COLUMNS = 9

export function DeliveryRow({ delivery }: { delivery: Item<'listWebhookDeliveries'> }) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const { can } = useSession()
  const redeliver = useWrite('redeliverWebhook', 'listWebhookDeliveries')
  const { id, webhook_id, event, status } = delivery
  const detailsId = `details-${id}`
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <ActionIcon
            variant="subtle"
            size="sm"
            onClick={toggle}
            aria-expanded={isOpen}
            aria-controls={detailsId}
            aria-label={`Details of ${event}`}
          >
            {isOpen ? '▾' : '▸'}
          </ActionIcon>
        </Table.Td>
        <Table.Td>{event}</Table.Td>
        <Table.Td>
          <StateBadge state={status} />
        </Table.Td>
        <Table.Td>{delivery.attempts}</Table.Td>
        <Table.Td maw={280}>{delivery.response_status ?? delivery.error ?? '–'}</Table.Td>
        <Table.Td>
          <TimeAgo at={delivery.created_at} />
        </Table.Td>
        <Table.Td>
          <TimeAgo at={delivery.last_attempt_at} />
        </Table.Td>
        <Table.Td>
          <TimeAgo at={delivery.next_attempt_at} />
        </Table.Td>
        <Table.Td ta="right">
          {can('webhooks:update') && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Redeliver ${event}`}
              loading={redeliver.isPending}
              onClick={() => redeliver.mutate({ params: { id: webhook_id, delivery_id: id } })}
            >
              Redeliver
            </Button>
          )}
        </Table.Td>
      </Table.Tr>
      {redeliver.error && (
        <Table.Tr>
          <Table.Td colSpan={COLUMNS}>
            <ErrorAlert error={redeliver.error} />
          </Table.Td>
        </Table.Tr>
      )}
      {isOpen && (
        <Table.Tr id={detailsId}>
          <Table.Td colSpan={COLUMNS}>
            <Stack gap="xs" p="xs">
              <Text size="sm">
                Sent as <Code>webhook-id: {id}</Code>
              </Text>
              {delivery.error && <Block title="Error of the last attempt" text={delivery.error} />}
              {delivery.response_body && (
                <Block title="Last answer, its first 1,024 characters" text={delivery.response_body} />
              )}
              <Block title="Payload, its first 1,024 characters" text={formatted(delivery.payload)} />
            </Stack>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Code>
    </div>
  )
}

/** JSON with indents; a payload that was cut off is not JSON and stays as it is. */
function formatted(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
