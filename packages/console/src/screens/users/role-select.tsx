import { MultiSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { searchQuery } from '../../components/search-query.ts'
import { useSession } from '../../session/session.tsx'

const DEBOUNCE_MS = 250

/** The names of roles that have a text in them, searched on the server. */
function useRoleNames() {
  const { can } = useSession()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, DEBOUNCE_MS)
  const mayList = can('roles:read')
  const query = { ...searchQuery(search), limit: 100 }
  const roles = useRead('listRoles', { query }, { enabled: mayList, keep: true })
  return { mayList, text, setText, names: (roles.data?.data ?? []).map(({ name }) => name) }
}

interface Props {
  value: string[]
  onChange: (names: string[]) => void
  error: string | undefined
}

/** A choice of roles by name. */
export function RoleSelect({ value, onChange, error }: Props) {
  const { mayList, text, setText, names } = useRoleNames()
  return (
    <MultiSelect
      label="Roles"
      description={
        mayList
          ? 'They count everywhere. You can give only roles whose permissions you have yourself.'
          : 'You may not list roles. You can only take roles away.'
      }
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Remove all roles' }}
      hidePickedOptions
      nothingFoundMessage="No other role has such a name"
      searchValue={text}
      onSearchChange={setText}
      data={[...new Set([...names, ...value])]}
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}

/** A choice of one role by name. */
export function OneRoleSelect({ value, onChange }: { value: string | null; onChange: (name: string | null) => void }) {
  const { setText, names } = useRoleNames()
  return (
    <Select
      label="Role"
      required
      placeholder="Search by name"
      searchable
      allowDeselect={false}
      nothingFoundMessage="No role has such a name"
      onSearchChange={setText}
      data={[...new Set([...names, ...(value === null ? [] : [value])])]}
      value={value}
      onChange={onChange}
    />
  )
}
