import { Button, Code, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { DeliveryDetails } from './delivery-details.tsx'

type Delivery = Item<'listWebhookDeliveries'>

export function DeliveryTable({ deliveries }: { deliveries: readonly Delivery[] }) {
  const { can } = useSession()
  return (
    <DataTable
      rows={deliveries}
      minWidth={860}
      columns={[
        { head: 'Event', cell: ({ event }) => event },
        { head: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Attempts', cell: ({ attempts }) => attempts },
        { head: 'Answer', maxWidth: 280, cell: (delivery) => <Outcome delivery={delivery} /> },
        { head: 'Created', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
        { head: 'Last attempt', cell: ({ last_attempt_at }) => <TimeAgo at={last_attempt_at} /> },
        { head: 'Next attempt', cell: ({ next_attempt_at }) => <TimeAgo at={next_attempt_at} /> },
      ]}
      actions={can('webhooks:update') ? (delivery) => <Redeliver delivery={delivery} /> : undefined}
      details={{
        label: ({ event }) => `Details of ${event}`,
        content: (delivery) => <DeliveryDetails delivery={delivery} />,
      }}
    />
  )
}

function Outcome({ delivery: { response_status, error } }: { delivery: Delivery }) {
  if (response_status === null && error === null) return '–'
  return (
    <>
      {response_status !== null && <Code>{response_status}</Code>}
      {error !== null && <Text size="xs">{error}</Text>}
    </>
  )
}

function Redeliver({ delivery: { id, webhook_id, event } }: { delivery: Delivery }) {
  const redeliver = useWrite('redeliverWebhook', 'listWebhookDeliveries')
  return (
    <Stack gap={4} align="end">
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Redeliver ${event}`}
        loading={redeliver.isPending}
        onClick={() => redeliver.mutate({ params: { id: webhook_id, delivery_id: id } })}
      >
        Redeliver
      </Button>
      {redeliver.error && <ErrorAlert error={redeliver.error} />}
    </Stack>
  )
}
