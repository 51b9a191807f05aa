import { Button, Group, MultiSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { RecordForm } from '../../components/record-form.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { useSession } from '../../session/session.tsx'
import { EVENTS, eventGroups, type WebhookEvent } from './events.ts'

interface Props {
  /** Null for a new webhook. */
  webhook: Item<'listWebhooks'> | null
  onClose: () => void
  /** With the secret, where there is a new one. */
  onSaved: (secret: string | null) => void
}

interface Values {
  url: string
  events: WebhookEvent[]
  /** Empty for none, or for the one that is stored. */
  secret: string
  tenant_id: string | null
  enabled: boolean
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const { can } = useSession()
  const create = useWrite('createWebhook', 'listWebhooks')
  const update = useWrite('updateWebhook', 'listWebhooks', 'getWebhook')
  const initial: Values = {
    url: webhook?.url ?? '',
    events: webhook?.events ?? [],
    secret: '',
    tenant_id: null,
    enabled: webhook?.enabled ?? true,
  }
  return (
    <RecordForm
      kind="webhook"
      stored={webhook && { name: webhook.url, updated_at: webhook.updated_at }}
      title="Edit the webhook"
      initial={initial}
      fields={[
        {
          name: 'url',
          label: 'URL',
          description: 'http or https, without user name and password. It must lead to a public address.',
          placeholder: 'https://hooks.example.com/slipway',
          type: 'url',
          required: true,
          maxLength: 2_048,
        },
        ({ bind }) => (
          <MultiSelect
            label="Events"
            description="What Slipway calls the URL for"
            withAsterisk
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Remove all events' }}
            nothingFoundMessage="There is no such event"
            data={eventGroups(can)}
            {...bind('events')}
            renderOption={({ option }) => (
              <Stack gap={0}>
                <Text size="sm">{option.value}</Text>
                <Text size="xs">{EVENTS[option.value]}</Text>
              </Stack>
            )}
          />
        ),
        ({ values, set, problemAt }) => (
          <Group align="flex-end" wrap="nowrap">
            <TextInput
              flex={1}
              label={webhook === null ? 'Secret' : 'New secret'}
              description={
                webhook === null
                  ? 'Signs the deliveries. Empty: Slipway makes a secret and shows it once.'
                  : 'Empty: the secret stays. A new one signs from the next attempt on.'
              }
              placeholder="whsec_…"
              autoComplete="off"
              value={values.secret}
              onChange={(event) => set({ secret: event.currentTarget.value })}
              error={problemAt('/secret')}
            />
            <Button variant="default" onClick={() => set({ secret: makeSecret() })}>
              Make one
            </Button>
          </Group>
        ),
        ({ bind }) =>
          webhook === null && (
            <TenantSelect
              description="Only what this tenant sees is delivered. Without a tenant, everything is."
              {...bind('tenant_id')}
            />
          ),
        ({ values, set }) => (
          <Switch
            label="Enabled"
            checked={values.enabled}
            onChange={(event) => set({ enabled: event.currentTarget.checked })}
          />
        ),
      ]}
      writes={[create, update]}
      save={({ url, events, enabled }, { secret: typed = '', tenant_id, ...changed }, expected) => {
        const given = typed.trim()
        const secret = given === '' ? {} : { secret: given }
        if (webhook === null) {
          const tenant = tenant_id ? { tenant_id } : {}
          const body = { url, events, enabled, ...secret, ...tenant }
          return create.mutate({ body }, { onSuccess: (answer) => onSaved(answer.secret ?? given) })
        }
        // The server checks a URL again when it is sent, and forgets with `enabled` why it disabled the webhook.
        const body = { ...changed, ...secret, ...expected }
        update.mutate({ params: { id: webhook.id }, body }, { onSuccess: () => onSaved(given || null) })
      }}
      onClose={onClose}
    />
  )
}

const SECRET_BYTES = 32

/** A signing secret as Standard Webhooks writes it. */
function makeSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}
