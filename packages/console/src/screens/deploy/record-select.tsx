import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { OperationId } from '@slipway/client'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'

const LIMIT = 50
const SEARCH_DELAY_MS = 250

type List = 'listActions' | 'listSequences' | 'listSolutions' | 'listEnvironments' | 'listTenants'
type Get = OperationId & ('getAction' | 'getSequence' | 'getSolution' | 'getEnvironment' | 'getTenant')

interface Props extends Pick<SelectProps, 'flex'> {
  label: string
  description?: string
  required?: boolean
  list: List
  get: Get
  value: string | null
  onChange: (id: string | null) => void
  /** Why the server refused the choice. */
  problem?: string | undefined
}

/** Chooses one record by its name. The server searches, so lists of any length work. */
export function RecordSelect({ description, required = false, list, get, value, onChange, problem, ...input }: Props) {
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, SEARCH_DELAY_MS)
  const chosen = useRead(get, { params: { id: value ?? '' } }, { enabled: value !== null })
  // While a record is chosen, the input holds its name. A search for the name would hide every other record.
  const search = wanted === chosen.data?.name ? '' : wanted.trim()
  const found = useRead(list, { query: { limit: LIMIT, ...(search === '' ? {} : { search }) } }, { keep: true })
  const records = new Map((found.data?.data ?? []).map(({ id, name }) => [id, name]))
  if (value !== null) records.set(value, chosen.data?.name ?? value)
  return (
    <Select
      {...input}
      description={description}
      required={required}
      searchable
      clearable={!required}
      clearButtonProps={{ 'aria-label': `Clear ${input.label}` }}
      allowDeselect={!required}
      placeholder={required ? 'Search by name' : 'None'}
      nothingFoundMessage={
        found.isFetching ? 'Searching' : search === '' ? 'There is none yet' : 'Nothing has this in its name'
      }
      data={[...records].map(([id, name]) => ({ value: id, label: name }))}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
      error={problem ?? chosen.error?.message ?? found.error?.message}
    />
  )
}
