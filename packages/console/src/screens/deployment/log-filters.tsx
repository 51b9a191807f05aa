import { Select, TextInput } from '@mantine/core'
import type { Answer, LogFilter } from '@slipway/client'
import { memo, useCallback } from 'react'

type Level = NonNullable<LogFilter['level']>
type Plan = Answer<'getDeployment'>['plan']

/** What is chosen in the fields above the log. */
export interface Wanted {
  search: string
  target_id: string | null
  action_id: string | null
  level: Level | null
}

export const ALL_LINES: Wanted = { search: '', target_id: null, action_id: null, level: null }

const LEVELS: Level[] = ['info', 'warning', 'error']
/** The longest text that the API searches for. */
const MAX_SEARCH = 255

/** What the API is asked for; null for all lines. */
export function filterOf({ search, target_id, action_id, level }: Wanted): LogFilter | null {
  const filter: LogFilter = {
    ...(search === '' ? {} : { search }),
    ...(target_id === null ? {} : { target_id }),
    ...(action_id === null ? {} : { action_id }),
    ...(level === null ? {} : { level }),
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
export function choicesOf(plan: Plan | undefined): LogChoices {
  const targets = new Map<string, string>()
  const actions = new Map<string, string>()
  for (const step of plan?.steps ?? []) {
    targets.set(step.target_id, step.target_name)
    actions.set(step.action_id, step.action_name)
  }
  const list = (names: Map<string, string>) => [...names].map(([value, label]) => ({ value, label }))
  return { targets: list(targets), actions: list(actions) }
}

interface Props {
  choices: LogChoices
  wanted: Wanted
  onChange: (change: (before: Wanted) => Wanted) => void
}

/** Text, target, step and level of the lines to show. */
export function LogFilters({ choices, wanted, onChange }: Props) {
  const set = useCallback((part: Partial<Wanted>) => onChange((before) => ({ ...before, ...part })), [onChange])
  const setTarget = useCallback((target_id: string | null) => set({ target_id }), [set])
  const setAction = useCallback((action_id: string | null) => set({ action_id }), [set])
  return (
    <>
      <TextInput
        label="Search the log"
        maxLength={MAX_SEARCH}
        value={wanted.search}
        onChange={(event) => set({ search: event.currentTarget.value })}
      />
      <OneOf label="Target" all="All targets" data={choices.targets} value={wanted.target_id} onChange={setTarget} />
      <OneOf label="Step" all="All steps" data={choices.actions} value={wanted.action_id} onChange={setAction} />
      <Select
        label="Level"
        placeholder="All"
        w={110}
        clearable
        clearButtonProps={{ 'aria-label': 'All levels' }}
        data={LEVELS}
        value={wanted.level}
        onChange={(level) => set({ level: LEVELS.find((one) => one === level) ?? null })}
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
    clearable
    clearButtonProps={{ 'aria-label': all }}
    searchable
    limit={50}
    data={data}
    value={value}
    onChange={onChange}
  />
))
