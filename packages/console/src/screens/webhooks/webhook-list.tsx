import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { RecordsPage } from '../../components/records-page.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { useAddress } from '../../components/use-address.ts'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookTable } from './webhook-table.tsx'

export function WebhookList() {
  const { listQuery } = useAddress()
  const [secret, setSecret] = useState<string | null>(null)
  // Slipway disables a webhook that fails for too long.
  useLive('listWebhooks')
  const webhooks = useRead('listWebhooks', { query: listQuery }, { keep: true })
  const form = (webhook: Item<'listWebhooks'> | null, onClose: () => void) => (
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
      <RecordsPage
        title="Webhooks"
        command={curlCommand('/webhooks')}
        record="webhook"
        searched="Part of the URL"
        purpose="Slipway calls a webhook when a deployment, target, freeze or instance changes. Create one with the URL of your service."
        permission="webhooks:create"
        read={webhooks}
        form={form}
      >
        {(data, change) => <WebhookTable webhooks={data} onChange={change} />}
      </RecordsPage>
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
