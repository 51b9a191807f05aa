import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { EnvironmentFilter } from '../../components/environment-filter.tsx'
import { RecordSelect } from '../../components/record-select.tsx'
import { StateFilter } from '../../components/state-filter.tsx'
import { TimeInput } from '../../components/time-input.tsx'
import { filtersOf, type Search, withoutFilters } from '../../components/use-address.ts'
import { SOURCE_FILTERS, SourceFilter } from '../releases/source-filter.tsx'
import { VersionFilter } from '../releases/version-filter.tsx'
import { TriggeredBy } from './triggered-by.tsx'

const STATES = ['pending', 'running', 'success', 'failed', 'cancelled', 'rolling_back', 'rolled_back']
const RARE_FILTERS = [...SOURCE_FILTERS, 'version', 'target_id', 'triggered_by', 'created_from', 'created_before']
/** As the API names them. */
export const FILTERS = ['search', 'state', 'environment_id', ...RARE_FILTERS]

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

/** The filters beside the search. Those that are rarely used have a line of their own. */
export function DeploymentFilters({ search, onChange }: Props) {
  const hasRare = Object.keys(filtersOf(search, RARE_FILTERS)).length > 0
  const [isOpen, { toggle }] = useDisclosure(hasRare)
  return (
    <>
      <StateFilter label="State" states={STATES} value={search['state']} onChange={(state) => onChange({ state })} />
      <EnvironmentFilter search={search} onChange={onChange} />
      <Button variant="default" aria-expanded={isOpen} onClick={toggle}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {Object.keys(filtersOf(search, FILTERS)).length > 0 && (
        <Button variant="default" onClick={() => onChange(withoutFilters(FILTERS))}>
          Remove filters
        </Button>
      )}
      {isOpen && (
        <Group align="flex-end" w="100%">
          <SourceFilter search={search} onChange={onChange} />
          <VersionFilter search={search} onChange={onChange} />
          <RecordSelect
            kind="target"
            label="Target"
            placeholder="Any target"
            value={search['target_id'] ?? null}
            onChange={(id) => onChange({ target_id: id ?? undefined })}
          />
          <TriggeredBy value={search['triggered_by']} onChange={(name) => onChange({ triggered_by: name })} />
          <TimeInput label="From" value={search['created_from']} onChange={(at) => onChange({ created_from: at })} />
          <TimeInput
            label="Before"
            value={search['created_before']}
            onChange={(at) => onChange({ created_before: at })}
          />
        </Group>
      )}
    </>
  )
}
