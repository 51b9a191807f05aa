import { SimpleGrid, TextInput } from '@mantine/core'
import type { ConnectionFieldsProps } from './connection-draft.ts'

const FIELDS = [
  {
    name: 'duration_ms',
    label: 'Duration',
    description: 'Milliseconds that each command takes',
    placeholder: '0',
    max: 86_400_000,
    step: 1,
  },
  {
    name: 'output_lines',
    label: 'Lines of output',
    description: 'Lines that each command writes',
    placeholder: '1',
    max: 100_000,
    step: 1,
  },
  {
    name: 'failure_rate',
    label: 'Failure rate',
    description: 'Share of the commands that fail, 0 to 1',
    placeholder: 'none',
    max: 1,
    step: 'any',
  },
  {
    name: 'exit_code',
    label: 'Exit code',
    description: 'Of the failed commands; without a failure rate, of all',
    placeholder: '0',
    max: 255,
    step: 1,
  },
  {
    name: 'drop_rate',
    label: 'Drop rate',
    description: 'Share of the commands that lose their link, 0 to 1',
    placeholder: 'none',
    max: 1,
    step: 'any',
  },
] as const

export function SimulatedFields({ draft, onChange, problemAt }: ConnectionFieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {FIELDS.map(({ name, ...field }) => (
        <TextInput
          key={name}
          {...field}
          type="number"
          min={0}
          value={draft[name]}
          onChange={(event) => onChange({ ...draft, [name]: event.currentTarget.value })}
          error={problemAt(`/connection/${name}`)}
        />
      ))}
    </SimpleGrid>
  )
}
