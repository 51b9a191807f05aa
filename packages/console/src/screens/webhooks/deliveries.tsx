import { Anchor, Button, Code, Select, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { ListScreen } from '../../components/list-screen.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { DeliveryDetails } from './delivery-details.tsx'

type Delivery = Item<'listWebhookDeliveries'>
type Status = Delivery['status']

const STATUSES: Record<Status, string> = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }
const REFRESH_MS = 5_000

/** What was delivered to one webhook in the last days, or could not be. */
export function Deliveries({ id }: { id: string }) {
  const { search, change, page } = useAddress()
  const { can } = useSession()
  const webhook = useRead('getWebhook', { params: { id } })
  const status = search['status'] as Status | undefined
  const query = { page, limit: 50, ...(status ? { status } : {}) }
  const deliveries = useRead('listWebhookDeliveries', { params: { id }, query }, { keep: true, everyMs: REFRESH_MS })
  return (
    <ListScreen
      title="Deliveries"
      command={curlCommand(`/webhooks/${id}/deliveries`)}
      record="delivery"
      top={
        <>
          <Anchor component={Link} to="/webhooks" size="sm">
            ← All webhooks
          </Anchor>
          <Loaded read={webhook}>
            {({ url, enabled, disabled_reason }) => (
              <Text style={{ overflowWrap: 'anywhere' }}>
                To <b>{url}</b>
                {!enabled && `, which is disabled${disabled_reason ? `: ${disabled_reason}` : ''}`}
              </Text>
            )}
          </Loaded>
        </>
      }
      searched={null}
      filters={
        <Select
          label="Status"
          placeholder="Any"
          clearable
          clearButtonProps={{ 'aria-label': 'Any status' }}
          data={Object.entries(STATUSES).map(([value, label]) => ({ value, label }))}
          value={status ?? null}
          onChange={(next) => change({ status: next ?? undefined })}
        />
      }
      isFiltered={status !== undefined}
      purpose="A delivery appears here when one of the events of the webhook happens. Slipway keeps it for some days."
      read={deliveries}
      columns={[
        { head: 'Event', cell: ({ event }) => event },
        { head: 'Status', width: 100, cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Attempts', width: 80, cell: ({ attempts }) => attempts },
        { head: 'Answer', wraps: true, cell: (delivery) => <Outcome delivery={delivery} /> },
        { head: 'Created', width: 112, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
        { head: 'Last attempt', width: 112, cell: ({ last_attempt_at }) => <TimeAgo at={last_attempt_at} /> },
        { head: 'Next attempt', width: 112, cell: ({ next_attempt_at }) => <TimeAgo at={next_attempt_at} /> },
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
