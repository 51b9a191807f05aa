import { Button } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DEPLOYMENT_COLUMNS } from '../../components/deployment-table.tsx'
import { ListScreen } from '../../components/list-screen.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { filtersOf, useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { deploymentsCommand } from '../releases/commands.ts'
import { DeploymentFilters, FILTERS } from './deployment-filters.tsx'

/** Pages further down change seldom, and cost the database up to a second each time. */
const LIVE_PAGES = 20
type Query = NonNullable<Input<'listDeployments'>['query']>

const SORTED = ['created_at', 'source_name'] as const

export function Deployments() {
  const { search, change, page, listQuery } = useAddress()
  const { can } = useSession()
  useLive(...(Number(page) <= LIVE_PAGES ? (['listDeployments'] as const) : []))
  const filters = filtersOf(search, FILTERS)
  const query: Query = { ...filters, ...listQuery, ...sortQuery(SORTED, search['sort']) }
  const deployments = useRead('listDeployments', { query }, { keep: true })
  return (
    <ListScreen
      title="Deployments"
      command={deploymentsCommand(filters)}
      record="deployment"
      searched="Name of a source, id, or user"
      filters={<DeploymentFilters search={search} onChange={change} />}
      isFiltered={Object.keys(filters).length > 0}
      purpose={<Link to="/deploy">Start the first deployment</Link>}
      links={
        can('deployments:create') && (
          <Button component={Link} to="/deploy" size="xs">
            Deploy
          </Button>
        )
      }
      read={deployments}
      columns={DEPLOYMENT_COLUMNS}
    />
  )
}
