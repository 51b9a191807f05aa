import { Button, Group } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { ShownOnce } from '../administration/shown-once.tsx'
import { useAddress } from '../administration/use-address.ts'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookTable } from './webhook-table.tsx'

export function WebhookList() {
  const { search, change, page, toPage } = useAddress()
  const { can } = useSession()
  // Null: none is open. 'new': the form of a new webhook.
  const [edited, setEdited] = useState<Item<'listWebhooks'> | 'new' | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const wanted = search['search']
  const query = { page, limit: 50, ...searchQuery(wanted) }
  const webhooks = useRead('listWebhooks', { query }, { keep: true })
  return (
    <Page
      title="Webhooks"
      command={curlCommand('/webhooks')}
      actions={
        can('webhooks:create') && (
          <Button size="xs" onClick={() => setEdited('new')}>
            Create webhook
          </Button>
        )
      }
    >
      <Group>
        <SearchInput
          label="Search"
          placeholder="Part of the URL"
          value={wanted}
          onChange={(text) => change({ search: text })}
        />
      </Group>
      <Loaded read={webhooks}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={wanted ? 'No webhook has such a URL' : 'No webhooks'}>
              {wanted
                ? 'Search for another part of the URL.'
                : 'Slipway calls a webhook when a deployment, target, freeze or instance changes. Create one with the URL of your service.'}
            </Empty>
          ) : (
            <>
              <WebhookTable webhooks={data} onEdit={setEdited} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {edited !== null && (
        <WebhookForm
          webhook={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(newSecret) => {
            setEdited(null)
            setSecret(newSecret)
          }}
        />
      )}
      {secret !== null && (
        <ShownOnce
          title="Secret of the webhook"
          explanation="Slipway signs every delivery with this secret, and your service checks the signature with it. Slipway does not show it again."
          values={[secret]}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  )
}
