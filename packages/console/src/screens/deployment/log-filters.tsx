import { Select } from '@mantine/core'
import type { LogFilter } from '@slipway/client'
import { memo, useCallback } from 'react'
import { shellQuoted } from '../../components/commands.ts'
import { SearchInput } from '../../components/search-input.tsx'
import type { Search } from '../../components/use-address.ts'
import type { Plan } from './grid-rows.ts'

type Level = NonNullable<LogFilter['level']>

const LEVELS: Level[] = ['info', 'warning', 'error']
/** The longest text that the API searches for. */
const MAX_SEARCH = 255

/** The filter in an address; null for all lines. */
export function filterOf({ search, target, step, level: name }: Search): LogFilter | null {
  const level = LEVELS.find((one) => one === name)
  const filter: LogFilter = {
    ...(search ? { search: search.slice(0, MAX_SEARCH) } : {}),
    ...(target ? { target_id: target } : {}),
    ...(step ? { action_id: step } : {}),
    ...(level ? { level } : {}),
  }
  return Object.keys(filter).length === 0 ? null : filter
}

interface Choice {
  value: string
  label: string
}

export interface LogChoices {
  targets: Choice[]
  actions: Choice[]
}

/** The targets and the actions of a plan, each once, in its order. */
export function choicesOf(plan: Plan | null): LogChoices {
  const targets = new Map<string, string>()
  const actions = new Map<string, string>()
  for (const step of plan?.steps ?? []) {
    targets.set(step.target_id, step.target_name)
    actions.set(step.action_id, step.action_name)
  }
  const list = (names: Map<string, string>) => [...names].map(([value, label]) => ({ value, label }))
  return { targets: list(targets), actions: list(actions) }
}

/** The command that prints the same lines. */
export function logsCommand(id: string, search: Search): string {
  const { search: text, target_id, action_id, level } = filterOf(search) ?? {}
  const options = Object.entries({ search: text, target: target_id, action: action_id, level })
  const given = options.flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellQuoted(String(value))}`],
  )
  return ['slipway logs', id, ...given].join(' ')
}

interface Props {
  choices: LogChoices
  search: Search
  onChange: (changed: Search) => void
}

/** Text, target, step and level of the lines to show. */
export function LogFilters({ choices, search, onChange }: Props) {
  const setTarget = useCallback((target: string | null) => onChange({ target: target ?? undefined }), [onChange])
  const setStep = useCallback((step: string | null) => onChange({ step: step ?? undefined }), [onChange])
  return (
    <>
      <SearchInput
        label="Search the log"
        maxLength={MAX_SEARCH}
        value={search['search']}
        onChange={(text) => onChange({ search: text })}
      />
      <OneOf
        label="Target"
        all="All targets"
        data={choices.targets}
        value={search['target'] ?? null}
        onChange={setTarget}
      />
      <OneOf label="Step" all="All steps" data={choices.actions} value={search['step'] ?? null} onChange={setStep} />
      <Select
        label="Level"
        placeholder="All"
        w={110}
        clearable
        clearButtonProps={{ 'aria-label': 'All levels' }}
        data={LEVELS}
        value={LEVELS.find((one) => one === search['level']) ?? null}
        onChange={(level) => onChange({ level: level ?? undefined })}
      />
    </>
  )
}

interface OneOfProps {
  label: string
  /** What the button says that clears the choice. */
  all: string
  data: Choice[]
  value: string | null
  onChange: (value: string | null) => void
}

/** Drawn only when it changes: it may have ten thousand choices. */
const OneOf = memo(({ label, all, data, value, onChange }: OneOfProps) => (
  <Select
    label={label}
    placeholder="All"
    w={160}
    clearable
    clearButtonProps={{ 'aria-label': all }}
    searchable
    limit={50}
    data={data}
    value={value}
    onChange={onChange}
  />
))
