import { Anchor, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { searchQuery } from '../../components/search-query.ts'
import { KIND_LABELS, KINDS, type Kind, OPERATIONS, parseKind } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'

interface Props {
  kind: Kind
  id: string | null
  /** Of the chosen source; undefined until it is read. */
  name: string | undefined
  onChange: (chosen: { kind: Kind; sourceId: string | null }) => void
}

const MAX_OF_A_KIND = 20
const DEBOUNCE_MS = 250

/** A choice of one source among solutions, sequences and actions by its name, searched on the server. */
export function SourceSelect({ kind, id, name, onChange }: Props) {
  const { can } = useSession()
  const [text, setText] = useState('')
  const [debounced] = useDebouncedValue(text, DEBOUNCE_MS)
  // While the input shows the chosen name, the list offers every source.
  const search = debounced === (name ?? id ?? '') ? '' : debounced
  const query = { query: { ...searchQuery(search), limit: MAX_OF_A_KIND } }
  const read = (one: Kind) => ({ enabled: can(`${one}s:read`), keep: true })
  const reads = {
    solution: useRead(OPERATIONS.solution.list, query, read('solution')),
    sequence: useRead(OPERATIONS.sequence.list, query, read('sequence')),
    action: useRead(OPERATIONS.action.list, query, read('action')),
  }
  const visible = KINDS.filter((one) => can(`${one}s:read`))
  const groups = visible.map((one) => {
    const found = new Map((reads[one].data?.data ?? []).map((source) => [source.id, source.name]))
    if (id !== null && one === kind) found.set(id, name ?? id)
    return {
      group: KIND_LABELS[one],
      items: [...found].map(([sourceId, label]) => ({ value: `${one} ${sourceId}`, label })),
    }
  })
  const isEmpty = search === '' && id === null && visible.every((one) => reads[one].data?.meta.total === 0)
  const isFetching = visible.some((one) => reads[one].isFetching)
  const choose = (value: string | null) => {
    const [chosen, sourceId] = value?.split(' ') ?? []
    onChange({ kind: parseKind(chosen) ?? kind, sourceId: sourceId ?? null })
  }
  return (
    <div>
      <Select
        label="Source"
        description="A solution, sequence or action"
        placeholder="Search by name"
        required
        searchable
        allowDeselect={false}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        nothingFoundMessage={isFetching ? 'Searching' : 'No source has such a name'}
        filter={({ options }) => options}
        onSearchChange={setText}
        data={groups.filter(({ items }) => items.length > 0)}
        maxDropdownHeight={320}
        value={id === null ? null : `${kind} ${id}`}
        onChange={choose}
        error={visible.map((one) => reads[one].error).find((error) => error !== null)?.message}
      />
      {isEmpty && (
        <Text size="sm" mt={4}>
          There is no source yet.{' '}
          <Anchor component={Link} to="/sources" search={{ kind: 'action', new: 'yes' } as never} size="sm">
            Create the first action
          </Anchor>
        </Text>
      )}
    </div>
  )
}
