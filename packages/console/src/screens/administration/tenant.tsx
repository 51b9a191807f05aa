import { Code, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { searchQuery } from './search-query.ts'

const DEBOUNCE_MS = 250

/** The name of a tenant; its id for users who may not read tenants. */
export function TenantName({ id }: { id: string | null }) {
  const { can } = useSession()
  const tenant = useRead('getTenant', { params: { id: id ?? '' } }, { enabled: id !== null && can('tenants:read') })
  if (id === null) return '–'
  return tenant.data?.name ?? <Code>{id}</Code>
}

interface SelectProps {
  value: string | null
  onChange: (id: string | null) => void
  description: string
}

/** A choice of one tenant or none, searched on the server. Shows nothing to users who may not read tenants. */
export function TenantSelect({ value, onChange, description }: SelectProps) {
  const { can } = useSession()
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, DEBOUNCE_MS)
  const enabled = can('tenants:read')
  const chosen = useRead('getTenant', { params: { id: value ?? '' } }, { enabled: enabled && value !== null })
  // While the input shows the chosen name, the list offers every tenant.
  const search = wanted === chosen.data?.name ? '' : wanted
  const tenants = useRead('listTenants', { query: { ...searchQuery(search), limit: 50 } }, { enabled, keep: true })
  if (!enabled) return null
  const found = new Map((tenants.data?.data ?? []).map(({ id, name }) => [id, name]))
  if (value !== null) found.set(value, chosen.data?.name ?? value)
  return (
    <Select
      label="Tenant"
      description={description}
      placeholder="No tenant"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'No tenant' }}
      nothingFoundMessage="No tenant has such a name"
      filter={({ options }) => options}
      onSearchChange={setText}
      data={[...found].map(([id, name]) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
    />
  )
}
