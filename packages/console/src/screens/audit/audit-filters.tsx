import { Button, Group, Select, Switch } from '@mantine/core'
import { RecordSelect } from '../../components/record-select.tsx'
import { SearchInput } from '../../components/search-input.tsx'
import { TimeInput } from '../../components/time-input.tsx'
import { type Search, withoutFilters } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { ACTION_GROUPS, RESOURCE_TYPES } from './actions.ts'

export const FILTERS = ['action', 'resource_type', 'resource_id', 'actor_id', 'api_key_id', 'from', 'to'] as const

/** Of the parameter `refreshes`. */
export const SHOWN = 'shown'

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

export function AuditFilters({ search, onChange }: Props) {
  const isFiltered = FILTERS.some((name) => search[name])
  return (
    <Group align="flex-end">
      <Select
        label="Action"
        placeholder="Any"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Any action' }}
        nothingFoundMessage="There is no such action"
        data={ACTION_GROUPS}
        value={search['action'] ?? null}
        onChange={(action) => onChange({ action: action ?? undefined })}
      />
      <Select
        label="Resource type"
        placeholder="Any"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Any resource type' }}
        nothingFoundMessage="There is no such type"
        data={RESOURCE_TYPES}
        value={search['resource_type'] ?? null}
        onChange={(type) => onChange({ resource_type: type ?? undefined })}
      />
      <SearchInput
        label="Resource id"
        placeholder="Any"
        maxLength={128}
        value={search['resource_id']}
        onChange={(id) => onChange({ resource_id: id })}
      />
      <ActorFilter value={search['actor_id']} onChange={(id) => onChange({ actor_id: id })} />
      <SearchInput
        label="API key"
        placeholder="Any, or an id"
        value={search['api_key_id']}
        onChange={(id) => onChange({ api_key_id: id })}
      />
      <TimeInput label="From" value={search['from']} onChange={(from) => onChange({ from })} />
      <TimeInput label="Before" value={search['to']} onChange={(to) => onChange({ to })} />
      <Switch
        label="Show refreshes of sessions"
        mb={8}
        checked={search['refreshes'] === SHOWN}
        onChange={(event) => onChange({ refreshes: event.currentTarget.checked ? SHOWN : undefined })}
      />
      {isFiltered && (
        <Button variant="default" onClick={() => onChange(withoutFilters(FILTERS))}>
          Remove filters
        </Button>
      )}
    </Group>
  )
}

interface ActorFilterProps {
  value: string | undefined
  onChange: (id: string | undefined) => void
}

/** Whose records: a user, or the id of one for callers who may not list users. */
function ActorFilter({ value, onChange }: ActorFilterProps) {
  const { can } = useSession()
  return can('users:read') ? (
    <RecordSelect
      kind="user"
      label="Actor"
      placeholder="Any user"
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  ) : (
    <SearchInput label="Actor" placeholder="Id of a user" value={value} onChange={onChange} />
  )
}
