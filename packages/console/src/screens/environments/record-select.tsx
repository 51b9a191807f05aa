import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { searchQuery } from '../administration/search-query.ts'

const KINDS = {
  environment: { list: 'listEnvironments', get: 'getEnvironment', permission: 'environments:read' },
  solution: { list: 'listSolutions', get: 'getSolution', permission: 'solutions:read' },
} as const
type Kind = keyof typeof KINDS

const MAX_CHOICES = 50
const DEBOUNCE_MS = 250

/** The name of an environment or solution; its id for users who may not read it. */
export function RecordName({ kind, id }: { kind: Kind; id: string | null }) {
  const { can } = useSession()
  const { get, permission } = KINDS[kind]
  const record = useRead(get, { params: { id: id ?? '' } }, { enabled: id !== null && can(permission) })
  return <>{id === null ? '–' : (record.data?.name ?? id)}</>
}

interface Props {
  kind: Kind
  label: string
  description?: string
  placeholder: string
  value: string | null
  onChange: (id: string | null) => void
}

/** A choice of one record or none, searched on the server. Shows nothing to users who may not read such records. */
export function RecordSelect({ kind, label, description, placeholder, value, onChange }: Props) {
  const { can } = useSession()
  const { list, get, permission } = KINDS[kind]
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, DEBOUNCE_MS)
  const enabled = can(permission)
  const chosen = useRead(get, { params: { id: value ?? '' } }, { enabled: enabled && value !== null })
  // While the input shows the chosen name, the list offers every record.
  const search = wanted === chosen.data?.name ? '' : wanted
  const records = useRead(list, { query: { ...searchQuery(search), limit: MAX_CHOICES } }, { enabled, keep: true })
  if (!enabled) return null
  const found = new Map((records.data?.data ?? []).map(({ id, name }) => [id, name]))
  if (value !== null) found.set(value, chosen.data?.name ?? value)
  return (
    <Select
      label={label}
      description={description}
      placeholder={placeholder}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': placeholder }}
      nothingFoundMessage={`No ${kind} has such a name`}
      filter={({ options }) => options}
      onSearchChange={setText}
      data={[...found].map(([id, name]) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
    />
  )
}
