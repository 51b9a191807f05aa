import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'

const DEBOUNCE_MS = 250

interface Props {
  value: string | undefined
  onChange: (id: string | undefined) => void
}

/** Whose records: a user, or the id of one for callers who may not list users. */
export function ActorFilter({ value, onChange }: Props) {
  const { can } = useSession()
  return can('users:read') ? (
    <UserSelect value={value} onChange={onChange} />
  ) : (
    <SearchInput label="Actor" placeholder="Id of a user" value={value} onChange={onChange} />
  )
}

function UserSelect({ value, onChange }: Props) {
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, DEBOUNCE_MS)
  // A deleted user still has records, but no name here.
  const chosen = useRead('getUser', { params: { id: value ?? '' } }, { enabled: value !== undefined })
  // While the input shows the chosen name, the list offers every user.
  const search = wanted === (chosen.data?.username ?? value) ? '' : wanted
  const users = useRead('listUsers', { query: { ...searchQuery(search), limit: 50 } }, { keep: true })
  const found = new Map((users.data?.data ?? []).map(({ id, username }) => [id, username]))
  if (value !== undefined) found.set(value, chosen.data?.username ?? value)
  return (
    <Select
      label="Actor"
      placeholder="Any user"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any user' }}
      nothingFoundMessage="No user has such a name or e-mail"
      filter={({ options }) => options}
      onSearchChange={setText}
      data={[...found].map(([id, username]) => ({ value: id, label: username }))}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  )
}
