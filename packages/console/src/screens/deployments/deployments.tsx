import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import type { Input } from '@slipway/client'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import type { Search } from '../../app/router.tsx'
import { curlCommand, shellQuoted } from '../../components/commands.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'

const STATES = ['pending', 'running', 'success', 'failed', 'cancelled', 'rolling_back', 'rolled_back']
const FILTERS = ['state', 'search', 'environment_id'] as const
/** Pages further down change seldom, and cost the database up to a second each time. */
const LIVE_PAGES = 20
type Query = NonNullable<Input<'listDeployments'>['query']>

export function Deployments() {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { can } = useSession()
  const [text, setText] = useState(search['search'] ?? '')
  const page = search['page'] ?? '1'
  useLive(...(Number(page) <= LIVE_PAGES ? (['listDeployments'] as const) : []))

  const filters = Object.fromEntries(FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))
  const query: Query = { ...filters, page, limit: 50 }
  const deployments = useRead('listDeployments', { query }, { keep: true })
  const environments = useRead('listEnvironments', { query: { limit: 100 } }, { enabled: can('environments:read') })

  const change = (changed: Search) =>
    void navigate({ to: '/deployments', search: { ...search, page: undefined, ...changed } })
  const searchLater = useDebouncedCallback((wanted: string) => change({ search: wanted || undefined }), 250)
  const isFiltered = Object.keys(filters).length > 0

  return (
    <Page
      title="Deployments"
      command={commandOf(search)}
      actions={
        can('deployments:create') && (
          <Button component={Link} to="/deploy" size="xs">
            Deploy
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <TextInput
          label="Search"
          placeholder="Name of a source, id, or user"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            searchLater(event.currentTarget.value)
          }}
        />
        <Select
          label="State"
          placeholder="Any"
          clearable
          clearButtonProps={{ 'aria-label': 'Any state' }}
          data={STATES.map((state) => ({ value: state, label: state.replaceAll('_', ' ') }))}
          value={search['state'] ?? null}
          onChange={(state) => change({ state: state ?? undefined })}
        />
        {can('environments:read') && (
          <Select
            label="Environment"
            placeholder="Any"
            clearable
            searchable
            clearButtonProps={{ 'aria-label': 'Any environment' }}
            data={(environments.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            value={search['environment_id'] ?? null}
            onChange={(id) => change({ environment_id: id ?? undefined })}
          />
        )}
      </Group>
      <Loaded read={deployments}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={isFiltered ? 'No deployment is like this' : 'Nothing has been deployed yet'}>
              {isFiltered ? 'Take a filter away to see more.' : <Link to="/deploy">Start the first deployment</Link>}
            </Empty>
          ) : (
            <>
              <DeploymentTable deployments={data} />
              <Pager meta={meta} onPage={(page) => change({ page: String(page) })} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** `slipway status` does not filter by environment. */
function commandOf({ state, search, environment_id }: Search): string {
  if (environment_id !== undefined) return curlCommand(`/deployments?environment_id=${environment_id}`)
  return ['slipway status', state && `--state ${state}`, search && `--search ${shellQuoted(search)}`]
    .filter(Boolean)
    .join(' ')
}
