import { Code, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { NAMED, type NamedKind, nameOf, nameQuery } from '../api/names.ts'
import { useRead } from '../api/queries.ts'
import { useSession } from '../session/session.tsx'
import { searchQuery } from './search-query.ts'

const MAX_CHOICES = 50
const DEBOUNCE_MS = 250

interface NameProps {
  kind: NamedKind
  id: string | null
  /** Stands where there is no record. */
  none?: string
}

/** The name of a record; its id for users who may not read it, and for a deleted record. */
export function RecordName({ kind, id, none = '–' }: NameProps) {
  const { can } = useSession()
  const name = useQuery(nameQuery(kind, id ?? '', id !== null && can(NAMED[kind].permission)))
  if (id === null) return none
  return name.data ?? <Code>{id}</Code>
}

interface Props extends Pick<SelectProps, 'flex'> {
  kind: NamedKind
  label: string
  description?: string
  placeholder?: string
  required?: boolean
  value: string | null
  onChange: (id: string | null) => void
  /** Why the server refused the choice. */
  error?: string | undefined
}

/** A choice of one record by its name, or of none, searched on the server. Shows nothing to users who may not read such records. */
export function RecordSelect({ kind, placeholder, required = false, value, error, onChange, ...input }: Props) {
  const { can } = useSession()
  const { list, get, permission } = NAMED[kind]
  const [text, setText] = useState('')
  const [debounced] = useDebouncedValue(text, DEBOUNCE_MS)
  const enabled = can(permission)
  const chosen = useRead(get, { params: { id: value ?? '' } }, { enabled: enabled && value !== null })
  const chosenName = chosen.data && nameOf(chosen.data)
  // While the input shows the chosen name, the list offers every record.
  const search = debounced === (chosenName ?? value) ? '' : debounced
  const records = useRead(list, { query: { ...searchQuery(search), limit: MAX_CHOICES } }, { enabled, keep: true })
  if (!enabled) return null
  const found = new Map((records.data?.data ?? []).map((record) => [record.id, nameOf(record)]))
  if (value !== null) found.set(value, chosenName ?? value)
  return (
    <Select
      {...input}
      placeholder={placeholder ?? (required ? 'Search by name' : 'None')}
      required={required}
      searchable
      clearable={!required}
      clearButtonProps={{ 'aria-label': placeholder ?? `Clear ${input.label}` }}
      allowDeselect={!required}
      nothingFoundMessage={
        records.isFetching ? 'Searching' : search === '' ? 'There is none yet' : `No ${kind} has such a name`
      }
      error={error ?? chosen.error?.message ?? records.error?.message}
      filter={({ options }) => options}
      onSearchChange={setText}
      data={[...found].map(([id, name]) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
    />
  )
}

/** The tenant of a record. */
export function TenantSelect(props: Pick<Props, 'description' | 'value' | 'onChange' | 'error'>) {
  return <RecordSelect kind="tenant" label="Tenant" placeholder="No tenant" {...props} />
}
