import { Select } from '@mantine/core'

interface Props<S extends string> {
  label: string
  states: readonly S[]
  value: string | undefined
  onChange(state: string | undefined): void
}

/** Chooses one of the states, or any. */
export function StateFilter<S extends string>({ label, states, value, onChange }: Props<S>) {
  return (
    <Select
      label={label}
      placeholder="Any state"
      clearable
      clearButtonProps={{ 'aria-label': 'Any state' }}
      data={states.map((state) => ({ value: state, label: state.replaceAll('_', ' ') }))}
      value={value ?? null}
      onChange={(state) => onChange(state ?? undefined)}
    />
  )
}
