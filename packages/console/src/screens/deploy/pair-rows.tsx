import { ActionIcon, Autocomplete, Button, Group, Stack, TextInput } from '@mantine/core'
import type { Pair } from './form.ts'

interface Props {
  rows: Pair[]
  onChange: (rows: Pair[]) => void
  keyLabel: string
  valueLabel: string
  addLabel: string
  /** Keys that exist, as suggestions. */
  knownKeys?: string[]
  /** Values that exist for a key, as suggestions. */
  knownValues?: (key: string) => string[]
}

/** Rows of a key and a value. */
export function PairRows({ rows, onChange, keyLabel, valueLabel, addLabel, knownKeys, knownValues }: Props) {
  const change = (row: number, changes: Partial<Pair>) =>
    onChange(rows.map((pair) => (pair.row === row ? { ...pair, ...changes } : pair)))
  const nextRow = Math.max(-1, ...rows.map(({ row }) => row)) + 1
  return (
    <Stack gap="xs" align="start">
      {rows.map(({ row, key, value }, index) => (
        <Group key={row} gap="xs" wrap="nowrap" w="100%">
          {knownKeys === undefined ? (
            <TextInput
              flex={1}
              aria-label={`${keyLabel} ${index + 1}`}
              placeholder={keyLabel}
              value={key}
              onChange={(event) => change(row, { key: event.currentTarget.value })}
            />
          ) : (
            <Autocomplete
              flex={1}
              aria-label={`${keyLabel} ${index + 1}`}
              placeholder={keyLabel}
              data={knownKeys}
              value={key}
              onChange={(text) => change(row, { key: text })}
            />
          )}
          <Autocomplete
            flex={1}
            aria-label={`${valueLabel} ${index + 1}`}
            placeholder={valueLabel}
            data={knownValues?.(key) ?? []}
            value={value}
            onChange={(text) => change(row, { value: text })}
          />
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Remove row ${index + 1}`}
            onClick={() => onChange(rows.filter((pair) => pair.row !== row))}
          >
            ✕
          </ActionIcon>
        </Group>
      ))}
      <Button variant="default" size="xs" onClick={() => onChange([...rows, { row: nextRow, key: '', value: '' }])}>
        {addLabel}
      </Button>
    </Stack>
  )
}
