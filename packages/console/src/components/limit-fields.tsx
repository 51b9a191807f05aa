import { MultiSelect, SimpleGrid } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useRead } from '../api/queries.ts'
import { useSession } from '../session/session.tsx'
import type { Limits } from './limits.ts'
import { type LimitKind, useRecordNames } from './record-names.ts'
import { searchQuery } from './search-query.ts'

const MAX_CHOICES = 50
const DEBOUNCE_MS = 250

interface Props {
  value: Limits
  onChange: (changed: Partial<Limits>) => void
  /** What the server says is wrong with each of them. */
  errors?: { [K in keyof Limits]?: string | undefined }
}

/** In which environments, and for which solutions, a role or a key counts. */
export function LimitFields({ value, onChange, errors = {} }: Props) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <LimitSelect
        kind="environment"
        label="Environments"
        placeholder="In every environment"
        value={value.environments}
        onChange={(environments) => onChange({ environments })}
        error={errors.environments}
      />
      <LimitSelect
        kind="solution"
        label="Solutions"
        placeholder="For every source"
        value={value.solutions}
        onChange={(solutions) => onChange({ solutions })}
        error={errors.solutions}
      />
    </SimpleGrid>
  )
}

const LIST = { environment: 'listEnvironments', solution: 'listSolutions' } as const

interface SelectProps {
  kind: LimitKind
  label: string
  /** What holds without a choice. */
  placeholder: string
  value: string[]
  onChange: (ids: string[]) => void
  error: string | undefined
}

/** A choice of records by name, searched on the server. */
function LimitSelect({ kind, label, placeholder, value, onChange, error }: SelectProps) {
  const { can } = useSession()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, DEBOUNCE_MS)
  const query = { ...searchQuery(search), limit: MAX_CHOICES }
  const found = useRead(LIST[kind], { query }, { enabled: can(`${kind}s:read`), keep: true })
  const nameOf = useRecordNames(kind, value)
  const options = new Map((found.data?.data ?? []).map(({ id, name }) => [id, name]))
  for (const id of value) if (!options.has(id)) options.set(id, nameOf(id))
  return (
    <MultiSelect
      label={label}
      placeholder={value.length === 0 ? placeholder : ''}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': placeholder }}
      hidePickedOptions
      nothingFoundMessage={
        found.isFetching
          ? 'Searching'
          : search === ''
            ? `There is no other ${kind}`
            : `No other ${kind} has such a name`
      }
      filter={({ options: all }) => all}
      searchValue={text}
      onSearchChange={setText}
      data={[...options].map(([id, name]) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      error={error ?? found.error?.message}
    />
  )
}
