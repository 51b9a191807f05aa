import { Button, Group, SegmentedControl } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { KIND_LABELS, KINDS, parseKind } from '../../components/source-kinds.ts'
import { filtersOf, useAddress, withoutFilters } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { matrixCommand } from './commands.ts'
import { MatrixTable } from './matrix-table.tsx'
import { NothingDeployed } from './nothing-deployed.tsx'
import { PlaceFilters } from './place-filters.tsx'
import { promotionsOf } from './promotions.ts'

const FILTERS = ['search', 'environment_id', 'tenant_id']
/** In the address: every kind of source. */
const ALL = 'all'
/** With ten environments, these are hundreds of cells. */
const PAGE_SIZE = 25
/** Rules of more environments are not shown. */
const MAX_ENVIRONMENTS = 100
type Query = NonNullable<Input<'getReleaseMatrix'>['query']>

/** Which version of each source is in force in each environment. */
export function Matrix() {
  const { search, change, listQuery, toPage } = useAddress()
  useLive('getReleaseMatrix')
  const kind = useKind(search['source_type'])
  const filters: Record<string, string> = {
    ...filtersOf(search, FILTERS),
    ...(kind === null || kind === ALL ? {} : { source_type: kind }),
  }
  const query: Query = { ...filters, ...listQuery, limit: PAGE_SIZE }
  const matrix = useRead('getReleaseMatrix', { query }, { keep: true, enabled: kind !== null })
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
          w={{ base: '100%', xs: 200 }}
          value={search['search']}
          onChange={(text) => change({ search: text })}
        />
        <SegmentedControl
          aria-label="Kind of source"
          value={kind ?? ''}
          onChange={(chosen) => change({ source_type: chosen })}
          data={[...KINDS.map((one) => ({ value: one, label: KIND_LABELS[one] })), { value: ALL, label: 'All' }]}
        />
        <PlaceFilters search={search} onChange={change} />
      </Group>
      <RecordList
        read={matrix}
        empty={
          <NothingDeployed
            isFiltered={Object.keys(filters).length > 0}
            onRemoveFilters={() => change({ ...withoutFilters(FILTERS), source_type: ALL })}
          />
        }
        onPage={toPage}
      >
        {(data) => <MatrixTable rows={data} promotions={promotions} />}
      </RecordList>
    </Page>
  )
}

const FRESH_MS = 60_000

/** The kind of source in the address. Without one: solutions, if there are any in force, else all. Null until that is known. */
function useKind(asked: string | undefined) {
  const query: Query = { source_type: 'solution', limit: 1 }
  const solutions = useRead('getReleaseMatrix', { query }, { enabled: asked === undefined, freshMs: FRESH_MS })
  if (asked !== undefined) return parseKind(asked) ?? ALL
  if (solutions.error !== null) return ALL
  return solutions.data === undefined ? null : solutions.data.meta.total > 0 ? 'solution' : ALL
}
