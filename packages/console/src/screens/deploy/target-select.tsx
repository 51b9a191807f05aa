import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'

const LIMIT = 50
const SEARCH_DELAY_MS = 250
/** Names of more targets are not read. They appear with their ids. */
const MAX_NAMED = 100
const FRESH_MS = 60_000

interface Props {
  /** Only targets of this environment are offered; null: all. */
  environmentId: string | null
  value: string[]
  onChange: (ids: string[]) => void
}

/** Chooses targets by name. The server searches. */
export function TargetSelect({ environmentId, value, onChange }: Props) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS)
  const found = useRead(
    'listTargets',
    {
      query: {
        limit: LIMIT,
        ...(search === '' ? {} : { search }),
        ...(environmentId === null ? {} : { environment_id: environmentId }),
      },
    },
    { keep: true },
  )
  const names = useTargetNames(value)
  const options = new Map((found.data?.data ?? []).map((target) => [target.id, labelOf(target)]))
  for (const id of value) if (!options.has(id)) options.set(id, names.get(id) ?? id)
  return (
    <MultiSelect
      label="Targets"
      required
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the targets' }}
      placeholder={value.length === 0 ? 'Search by name' : ''}
      nothingFoundMessage={
        found.isFetching ? 'Searching' : search === '' ? 'There is no target yet' : 'No target has this in its name'
      }
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      filter={({ options: all }) => all}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
      maxDropdownHeight={320}
      error={found.error?.message}
    />
  )
}

const labelOf = ({ name, status, enabled }: { name: string; status: string; enabled: boolean }) => {
  const notes = [...(status === 'online' ? [] : [status]), ...(enabled ? [] : ['disabled'])]
  return notes.length === 0 ? name : `${name} (${notes.join(', ')})`
}

/** The names of the chosen targets, which the found page need not contain. One call reads them all. */
function useTargetNames(chosen: readonly string[]): Map<string, string> {
  const ids = chosen.slice(0, MAX_NAMED)
  const query = { ids: ids.join(','), limit: MAX_NAMED }
  const targets = useRead('listTargets', { query }, { enabled: ids.length > 0, freshMs: FRESH_MS, keep: true })
  return new Map(targets.data?.data.map((target) => [target.id, labelOf(target)]))
}
