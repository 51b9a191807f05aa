import { Anchor, Group, Select, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useAddress } from '../../components/use-address.ts'
import { DeliveryTable } from './delivery-table.tsx'

type Status = Item<'listWebhookDeliveries'>['status']

const STATUSES: Record<Status, string> = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }
const REFRESH_MS = 5_000

/** What was delivered to one webhook in the last days, or could not be. */
export function Deliveries({ id }: { id: string }) {
  const { search, change, page, toPage } = useAddress()
  const webhook = useRead('getWebhook', { params: { id } })
  const status = search['status'] as Status | undefined
  const query = { page, limit: 50, ...(status ? { status } : {}) }
  const deliveries = useRead('listWebhookDeliveries', { params: { id }, query }, { keep: true, everyMs: REFRESH_MS })
  return (
    <Page title="Deliveries" command={curlCommand(`/webhooks/${id}/deliveries`)}>
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
      <Group>
        <Select
          label="Status"
          placeholder="Any"
          clearable
          clearButtonProps={{ 'aria-label': 'Any status' }}
          data={Object.entries(STATUSES).map(([value, label]) => ({ value, label }))}
          value={status ?? null}
          onChange={(next) => change({ status: next ?? undefined })}
        />
      </Group>
      <Loaded read={deliveries}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title="No deliveries">
              {status
                ? 'No delivery has this status. Choose another one.'
                : 'A delivery appears here when one of the events of the webhook happens. Slipway keeps it for some days.'}
            </Empty>
          ) : (
            <>
              <DeliveryTable deliveries={data} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
