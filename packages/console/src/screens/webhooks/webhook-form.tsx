import { Button, Group, MultiSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { changesOf } from '../../components/changes.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { useSession } from '../../session/session.tsx'
import { EVENTS, eventGroups, type WebhookEvent } from './events.ts'
import { makeSecret } from './secret.ts'

interface Props {
  /** Null for a new webhook. */
  webhook: Item<'listWebhooks'> | null
  onClose: () => void
  /** With the secret, where there is a new one. */
  onSaved: (secret: string | null) => void
}

export function WebhookForm({ webhook, onClose, onSaved }: Props) {
  const { can } = useSession()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [events, setEvents] = useState<WebhookEvent[]>(webhook?.events ?? [])
  const [secret, setSecret] = useState('')
  const [tenantId, setTenantId] = useState<string | null>(null)
  const [isEnabled, setEnabled] = useState(webhook?.enabled ?? true)
  const create = useWrite('createWebhook', 'listWebhooks')
  const update = useWrite('updateWebhook', 'listWebhooks', 'getWebhook')
  const given = secret.trim()

  const submit = () => {
    const newSecret = given === '' ? {} : { secret: given }
    if (webhook === null) {
      const tenant = tenantId === null ? {} : { tenant_id: tenantId }
      const body = { url: url.trim(), events, enabled: isEnabled, ...newSecret, ...tenant }
      return create.mutate({ body }, { onSuccess: (answer) => onSaved(answer.secret ?? given) })
    }
    // The server checks a URL again when it is sent, and forgets with `enabled` why it disabled the webhook.
    const body = { ...changesOf(webhook, { url: url.trim(), events, enabled: isEnabled }), ...newSecret }
    if (Object.keys(body).length === 0) return onClose()
    update.mutate({ params: { id: webhook.id }, body }, { onSuccess: () => onSaved(given || null) })
  }

  return (
    <FormModal
      title={webhook === null ? 'New webhook' : 'Change the webhook'}
      submitLabel={webhook === null ? 'Create' : 'Save'}
      writes={[create, update]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="URL"
        description="http or https, without user name and password. It must lead to a public address."
        placeholder="https://hooks.example.com/slipway"
        type="url"
        required
        data-autofocus
        maxLength={2_048}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <MultiSelect
        label="Events"
        description="What Slipway calls the URL for"
        withAsterisk
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Remove all events' }}
        nothingFoundMessage="There is no such event"
        data={eventGroups(can)}
        value={events}
        onChange={setEvents}
        renderOption={({ option }) => (
          <Stack gap={0}>
            <Text size="sm">{option.value}</Text>
            <Text size="xs">{EVENTS[option.value]}</Text>
          </Stack>
        )}
      />
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
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        <Button variant="default" onClick={() => setSecret(makeSecret())}>
          Make one
        </Button>
      </Group>
      {webhook === null && (
        <TenantSelect
          description="Only what this tenant sees is delivered. Without a tenant, everything is."
          value={tenantId}
          onChange={setTenantId}
        />
      )}
      <Switch label="Enabled" checked={isEnabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
    </FormModal>
  )
}
