import { Button, Group } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { RecordSelect } from '../../components/record-select.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { StateFilter } from '../../components/state-filter.tsx'
import { TagFilter } from '../../components/tags.tsx'
import { filtersOf, type Search, useAddress, withoutFilters } from '../../components/use-address.ts'
import { releasesCommand } from './commands.ts'
import { InstalledTable } from './installed-table.tsx'
import { NothingDeployed } from './nothing-deployed.tsx'
import { PlaceFilters } from './place-filters.tsx'
import { SOURCE_FILTERS, SourceFilter } from './source-filter.tsx'
import { VersionFilter } from './version-filter.tsx'

const FILTERS = ['search', ...SOURCE_FILTERS, 'version', 'environment_id', 'tenant_id', 'target_id', 'tag', 'state']
/** The filters that the matrix has, too. */
const SHARED = ['search', 'source_type', 'environment_id', 'tenant_id']
type Query = NonNullable<Input<'listReleases'>['query']>

const STATES: NonNullable<Query['state']>[] = [
  'applied',
  'drifted',
  'running',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
]

/** Which version of each source is in force on each target. */
export function Releases() {
  const { search, change, listQuery, toPage } = useAddress()
  useLive('listReleases')
  const filters = filtersOf(search, FILTERS)
  const query: Query = { ...filters, ...listQuery }
  const releases = useRead('listReleases', { query }, { keep: true })
  return (
    <Page
      title="Releases"
      command={releasesCommand(filters)}
      actions={
        <Button component={Link} to="/matrix" search={filtersOf(search, SHARED) as never} size="xs" variant="default">
          Matrix
        </Button>
      }
    >
      <Filters search={search} onChange={change} />
      <RecordList
        read={releases}
        empty={
          <NothingDeployed
            isFiltered={Object.keys(filters).length > 0}
            onRemoveFilters={() => change(withoutFilters(FILTERS))}
          />
        }
        onPage={toPage}
      >
        {(data) => <InstalledTable rows={data} />}
      </RecordList>
    </Page>
  )
}

function Filters({ search, onChange }: { search: Search; onChange: (changed: Search) => void }) {
  return (
    <Group align="flex-end">
      <SearchInput
        label="Search"
        placeholder="Name of a source or target"
        w={{ base: '100%', xs: 260 }}
        value={search['search']}
        onChange={(text) => onChange({ search: text })}
      />
      <SourceFilter search={search} onChange={onChange} />
      <VersionFilter search={search} onChange={onChange} />
      <PlaceFilters search={search} onChange={onChange} />
      <RecordSelect
        kind="target"
        label="Target"
        placeholder="Any target"
        value={search['target_id'] ?? null}
        onChange={(id) => onChange({ target_id: id ?? undefined })}
      />
      <TagFilter value={search['tag']} onChange={(tag) => onChange({ tag })} />
      <StateFilter label="State" states={STATES} value={search['state']} onChange={(state) => onChange({ state })} />
    </Group>
  )
}
