import { Select } from '@mantine/core'
import type { Item } from '@slipway/client'

export type Concurrency = Item<'listEnvironments'>['concurrency']

const POLICIES: Record<NonNullable<Concurrency>, string> = {
  allow: 'Run both at once',
  queue: 'Wait for the other one',
  reject: 'Refuse',
  supersede: 'Wait, and replace an older request of the same source',
}

interface Props {
  /** What applies without a choice. */
  otherwise: string
  value: Concurrency
  onChange: (policy: Concurrency) => void
  /** What the server says is wrong. */
  error: string | undefined
}

/** Chooses what happens to a deployment while another one works on the target. */
export function ConcurrencySelect({ otherwise, value, onChange, error }: Props) {
  return (
    <Select
      label="Concurrency"
      description="What a deployment does while another one works on the target. Counts for deployments that start after the change."
      placeholder={otherwise}
      clearable
      clearButtonProps={{ 'aria-label': otherwise }}
      data={Object.entries(POLICIES).map(([policy, label]) => ({ value: policy as NonNullable<Concurrency>, label }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}

export const describeConcurrency = (policy: Concurrency, otherwise: string) =>
  policy === null ? otherwise : POLICIES[policy]
