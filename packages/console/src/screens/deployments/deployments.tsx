import { Button } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { filtersOf, useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { deploymentsCommand } from '../releases/commands.ts'
import { DeploymentFilters, FILTERS } from './deployment-filters.tsx'

/** Pages further down change seldom, and cost the database up to a second each time. */
const LIVE_PAGES = 20
type Query = NonNullable<Input<'listDeployments'>['query']>

export function Deployments() {
  const { search, change, page, toPage, listQuery } = useAddress()
  const { can } = useSession()
  useLive(...(Number(page) <= LIVE_PAGES ? (['listDeployments'] as const) : []))
  const filters = filtersOf(search, FILTERS)
  const query: Query = { ...filters, ...listQuery }
  const deployments = useRead('listDeployments', { query }, { keep: true })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Deployments"
      command={deploymentsCommand(filters)}
      actions={
        can('deployments:create') && (
          <Button component={Link} to="/deploy" size="xs">
            Deploy
          </Button>
        )
      }
    >
      <DeploymentFilters search={search} onChange={change} />
      <Loaded read={deployments}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={isFiltered ? 'No deployment is like this' : 'Nothing has been deployed yet'}>
              {isFiltered ? 'Take a filter away to see more.' : <Link to="/deploy">Start the first deployment</Link>}
            </Empty>
          ) : (
            <>
              <DeploymentTable deployments={data} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
