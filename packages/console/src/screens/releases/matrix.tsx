import { Button, Group } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { parseKind } from '../../components/source-kinds.ts'
import { filtersOf, useAddress, withoutFilters } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { matrixCommand } from './commands.ts'
import { MatrixTable } from './matrix-table.tsx'
import { NothingDeployed } from './nothing-deployed.tsx'
import { PlaceFilters } from './place-filters.tsx'
import { promotionsOf } from './promotions.ts'
import { KindFilter } from './source-filter.tsx'

const FILTERS = ['search', 'source_type', 'environment_id', 'tenant_id']
/** With ten environments, these are hundreds of cells. */
const PAGE_SIZE = 25
/** Rules of more environments are not shown. */
const MAX_ENVIRONMENTS = 100
type Query = NonNullable<Input<'getReleaseMatrix'>['query']>

/** Which version of each source is in force in each environment. */
export function Matrix() {
  const { search, change, listQuery, toPage } = useAddress()
  useLive('getReleaseMatrix')
  const filters = filtersOf(search, FILTERS)
  const query: Query = { ...filters, ...listQuery, limit: PAGE_SIZE }
  const matrix = useRead('getReleaseMatrix', { query }, { keep: true })
  const { can } = useSession()
  const environments = useRead(
    'listEnvironments',
    { query: { limit: MAX_ENVIRONMENTS } },
    { enabled: can('environments:read') },
  )
  // The rows of a filter do not tell what the other environments have.
  const isWhole = filters['environment_id'] === undefined
  const known = isWhole ? environments.data?.data : undefined
  const promotions = useMemo(() => promotionsOf(known ?? []), [known])
  return (
    <Page
      title="Matrix"
      command={matrixCommand(filters)}
      actions={
        <Button component={Link} to="/releases" search={filters as never} size="xs" variant="default">
          Releases
        </Button>
      }
    >
      <Group align="flex-end">
        <SearchInput
          label="Search"
          placeholder="Name of a source"
          w={{ base: '100%', xs: 260 }}
          value={search['search']}
          onChange={(text) => change({ search: text })}
        />
        <KindFilter
          value={parseKind(search['source_type']) ?? undefined}
          onChange={(kind) => change({ source_type: kind })}
        />
        <PlaceFilters search={search} onChange={change} />
      </Group>
      <RecordList
        read={matrix}
        empty={
          <NothingDeployed
            isFiltered={Object.keys(filters).length > 0}
            onRemoveFilters={() => change(withoutFilters(FILTERS))}
          />
        }
        onPage={toPage}
      >
        {(data) => <MatrixTable rows={data} promotions={promotions} />}
      </RecordList>
    </Page>
  )
}
