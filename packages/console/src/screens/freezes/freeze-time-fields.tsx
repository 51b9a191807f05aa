import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import type { Times } from './freeze-times.ts'
import { ZONES } from './zones.ts'

const EXAMPLES = [
  { label: 'Every day', rule: 'FREQ=DAILY' },
  { label: 'Monday to Friday', rule: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR' },
  { label: 'Every Friday', rule: 'FREQ=WEEKLY;BYDAY=FR' },
  { label: 'Every second week', rule: 'FREQ=WEEKLY;INTERVAL=2' },
  { label: 'Last day of the month', rule: 'FREQ=MONTHLY;BYMONTHDAY=-1' },
  { label: 'Last workday of the month', rule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' },
  { label: 'Every year', rule: 'FREQ=YEARLY' },
]

interface Props {
  times: Times
  change: (changed: Partial<Times>) => void
  /** What the server says is wrong with a field. */
  problem?: (name: 'start_time' | 'end_time' | 'recurrence' | 'time_zone') => string | undefined
}

/** The times of a freeze, or of a window of an environment. */
export function freezeTimeFields({ times, change, problem }: Props) {
  return (
    <>
      <Select
        label="Time zone"
        description="Start, end and recurrence are in this zone. Without a zone, times are UTC and the recurrence has a fixed offset."
        placeholder="No zone"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'No zone' }}
        limit={100}
        data={ZONES}
        value={times.zone}
        onChange={(zone) => change({ zone })}
        error={problem?.('time_zone')}
      />
      <Group grow align="start">
        <TextInput
          label="Start"
          type="datetime-local"
          required
          value={times.start}
          onChange={(event) => change({ start: event.currentTarget.value })}
          error={problem?.('start_time')}
        />
        <TextInput
          label="End"
          type="datetime-local"
          required
          value={times.end}
          onChange={(event) => change({ end: event.currentTarget.value })}
          error={problem?.('end_time')}
        />
      </Group>
      <TextInput
        label="Recurrence"
        description="An RFC 5545 RRULE without RRULE:, from DAILY to YEARLY. Every window is as long as the first. Empty for one window."
        placeholder="FREQ=WEEKLY;BYDAY=FR"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={times.recurrence}
        onChange={(event) => change({ recurrence: event.currentTarget.value })}
        error={problem?.('recurrence')}
      />
      <Group gap={4} role="group" aria-label="Examples of recurrences">
        <Text size="xs">Examples:</Text>
        {EXAMPLES.map(({ label, rule }) => (
          <Button
            key={rule}
            size="compact-xs"
            variant="default"
            title={rule}
            onClick={() => change({ recurrence: rule })}
          >
            {label}
          </Button>
        ))}
      </Group>
    </>
  )
}
