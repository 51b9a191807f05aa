import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { searchQuery } from '../../components/search-query.ts'
import { useSession } from '../../session/session.tsx'

const DEBOUNCE_MS = 250

/** A choice of roles by name, searched on the server. */
export function RoleSelect({ value, onChange }: { value: string[]; onChange: (names: string[]) => void }) {
  const { can } = useSession()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, DEBOUNCE_MS)
  const roles = useRead(
    'listRoles',
    { query: { ...searchQuery(search), limit: 100 } },
    { enabled: can('roles:read'), keep: true },
  )
  const found = (roles.data?.data ?? []).map(({ name }) => name)
  return (
    <MultiSelect
      label="Roles"
      description={
        can('roles:read')
          ? 'You can give only roles whose permissions you have yourself.'
          : 'You may not list roles. You can only take roles away.'
      }
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Remove all roles' }}
      hidePickedOptions
      nothingFoundMessage="No other role has such a name"
      searchValue={text}
      onSearchChange={setText}
      data={[...new Set([...found, ...value])]}
      value={value}
      onChange={onChange}
    />
  )
}
