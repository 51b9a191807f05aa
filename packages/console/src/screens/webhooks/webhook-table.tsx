import { Anchor, Button, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantName } from '../administration/tenant.tsx'

type Webhook = Item<'listWebhooks'>

interface Props {
  webhooks: readonly Webhook[]
  onEdit: (webhook: Webhook) => void
}

export function WebhookTable({ webhooks, onEdit }: Props) {
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>URL</Table.Th>
            <Table.Th>Events</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Tenant</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} onEdit={() => onEdit(webhook)} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function WebhookRow({ webhook, onEdit }: { webhook: Webhook; onEdit: () => void }) {
  const { can } = useSession()
  const update = useWrite('updateWebhook', 'listWebhooks', 'getWebhook')
  const remove = useWrite('deleteWebhook', 'listWebhooks')
  const { id, url, enabled } = webhook
  const switchTo = (next: boolean) => ({ params: { id }, body: { enabled: next } })
  return (
    <Table.Tr>
      <Table.Td maw={360} style={{ overflowWrap: 'anywhere' }}>
        <Anchor component={Link} to="/webhooks" search={{ webhook: id } as never} size="sm" fw={500}>
          {url}
        </Anchor>
      </Table.Td>
      <Table.Td maw={280}>{webhook.events.join(', ')}</Table.Td>
      <Table.Td maw={260}>
        <Stack gap={4}>
          <Text size="sm" fw={enabled ? 400 : 600}>
            {enabled ? 'Enabled' : 'Disabled'}
          </Text>
          {webhook.disabled_reason && <Text size="xs">{webhook.disabled_reason}</Text>}
          {update.error && !enabled && <ErrorAlert error={update.error} />}
        </Stack>
      </Table.Td>
      <Table.Td>
        <TenantName id={webhook.tenant_id} />
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap" justify="flex-end">
          {can('webhooks:update') && (
            <>
              <Button size="compact-xs" variant="default" aria-label={`Edit ${url}`} onClick={onEdit}>
                Edit
              </Button>
              {enabled ? (
                <ConfirmButton
                  size="compact-xs"
                  variant="default"
                  label="Disable"
                  aria-label={`Disable ${url}`}
                  question={`Slipway no longer calls ${url}. What happens while the webhook is disabled is not delivered later.`}
                  onConfirm={() => update.mutateAsync(switchTo(false))}
                />
              ) : (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Enable ${url}`}
                  loading={update.isPending}
                  onClick={() => update.mutate(switchTo(true))}
                >
                  Enable
                </Button>
              )}
            </>
          )}
          {can('webhooks:delete') && (
            <ConfirmButton
              size="compact-xs"
              variant="default"
              label="Delete"
              aria-label={`Delete ${url}`}
              question={`The webhook ${url} is deleted with its deliveries.`}
              onConfirm={() => remove.mutateAsync({ params: { id } })}
            />
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
