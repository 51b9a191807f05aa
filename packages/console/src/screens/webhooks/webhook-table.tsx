import { Anchor, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { ChangeButton, DeleteButton } from '../../components/row-buttons.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { useSession } from '../../session/session.tsx'

type Webhook = Item<'listWebhooks'>

interface Props {
  webhooks: readonly Webhook[]
  onChange: (webhook: Webhook) => void
}

export function WebhookTable({ webhooks, onChange }: Props) {
  return (
    <DataTable
      rows={webhooks}
      minWidth={860}
      columns={[
        {
          head: 'URL',
          maxWidth: 360,
          cell: ({ id, url }) => (
            <Anchor component={Link} to="/webhooks" search={{ webhook: id } as never} size="sm" fw={600}>
              {url}
            </Anchor>
          ),
        },
        { head: 'Events', maxWidth: 280, cell: ({ events }) => events.join(', ') },
        { head: 'Status', maxWidth: 260, cell: (webhook) => <Status webhook={webhook} /> },
        { head: 'Tenant', cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
      ]}
      actions={(webhook) => <Actions webhook={webhook} onChange={() => onChange(webhook)} />}
    />
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

function Actions({ webhook: { id, url, enabled }, onChange }: { webhook: Webhook; onChange: () => void }) {
  const { can } = useSession()
  const update = useWrite('updateWebhook', 'listWebhooks', 'getWebhook')
  const remove = useWrite('deleteWebhook', 'listWebhooks')
  const label = enabled ? 'Disable' : 'Enable'
  return (
    <>
      {can('webhooks:update') && (
        <>
          <ChangeButton name={url} onClick={onChange} />
          <ConfirmButton
            size="compact-xs"
            variant="default"
            label={label}
            aria-label={`${label} ${url}`}
            isHarmless={!enabled}
            question={
              enabled
                ? `Slipway no longer calls ${url}. What happens while the webhook is disabled is not delivered later.`
                : `Slipway calls ${url} again for what happens from now on.`
            }
            onConfirm={() => update.mutateAsync({ params: { id }, body: { enabled: !enabled } })}
          />
        </>
      )}
      {can('webhooks:delete') && (
        <DeleteButton
          name={url}
          question={`The webhook ${url} is deleted with its deliveries.`}
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        />
      )}
    </>
  )
}
