import { Anchor, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ListScreen } from '../../components/list-screen.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { WebhookForm } from './webhook-form.tsx'

type Webhook = Item<'listWebhooks'>

const SORTED = ['url', 'created_at'] as const

export function WebhookList() {
  const { search, listQuery } = useAddress()
  const { can } = useSession()
  const [secret, setSecret] = useState<string | null>(null)
  // Slipway disables a webhook that fails for too long.
  useLive('listWebhooks')
  const webhooks = useRead(
    'listWebhooks',
    { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } },
    { keep: true },
  )
  const form = (webhook: Webhook | null, onClose: () => void) => (
    <WebhookForm
      webhook={webhook}
      onClose={onClose}
      onSaved={(newSecret) => {
        onClose()
        setSecret(newSecret)
      }}
    />
  )
  return (
    <>
      <ListScreen
        title="Webhooks"
        command={curlCommand('/webhooks')}
        record="webhook"
        searched="Part of the URL"
        purpose="Slipway calls a webhook when a deployment, target, freeze or instance changes. Create one with the URL of your service."
        permission="webhooks:create"
        read={webhooks}
        form={form}
        columns={[
          {
            head: 'URL',
            sort: 'url',

            cell: ({ id, url }) => (
              <Anchor component={Link} to="/webhooks" search={{ webhook: id } as never} size="sm" fw={600}>
                {url}
              </Anchor>
            ),
          },
          { head: 'Events', wraps: true, cell: ({ events }) => events.join(', ') },
          { head: 'Status', wraps: true, cell: (webhook) => <Status webhook={webhook} /> },
          {
            head: 'Tenant',
            width: 120,
            cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" />,
          },
        ]}
        actions={(webhook, open) => (
          <RecordButtons
            id={webhook.id}
            name={webhook.url}
            mayChange={can('webhooks:update')}
            onChange={open}
            mayDelete={can('webhooks:delete')}
            deletion={['deleteWebhook', 'listWebhooks']}
            question={`The webhook ${webhook.url} is deleted with its deliveries.`}
          >
            {can('webhooks:update') && <Switch webhook={webhook} />}
          </RecordButtons>
        )}
      />
      {secret !== null && (
        <ShownOnce
          title="Secret of the webhook"
          explanation="Slipway signs every delivery with this secret, and your service checks the signature with it. Slipway does not show it again."
          values={[secret]}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  )
}

function Status({ webhook: { enabled, disabled_reason } }: { webhook: Webhook }) {
  return (
    <Stack gap={4} align="start">
      <StateBadge state={enabled ? 'enabled' : 'disabled'} />
      {disabled_reason && <Text size="xs">{disabled_reason}</Text>}
    </Stack>
  )
}

/** Enables or disables a webhook. */
function Switch({ webhook: { id, url, enabled } }: { webhook: Webhook }) {
  const update = useWrite('updateWebhook', 'listWebhooks', 'getWebhook')
  const label = enabled ? 'Disable' : 'Enable'
  return (
    <ConfirmButton
      size="compact-xs"
      variant="default"
      label={label}
      aria-label={`${label} ${url}`}
      question={
        enabled
          ? `Slipway no longer calls ${url}. What happens while the webhook is disabled is not delivered later.`
          : `Slipway calls ${url} again for what happens from now on.`
      }
      onConfirm={() => update.mutateAsync({ params: { id }, body: { enabled: !enabled } })}
    />
  )
}
