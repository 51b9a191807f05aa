import { Button, Checkbox, CloseButton, Fieldset, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { FieldsetProblem } from './fieldset-problem.tsx'
import { KEPT_SECRET, type VariableRow } from './variables.ts'

interface Props {
  value: VariableRow[]
  onChange: (rows: VariableRow[]) => void
  /** What the server says is wrong. */
  error: string | undefined
}

/** Variables as rows of name, type and value. */
export function VariablesEditor({ value: rows, onChange, error }: Props) {
  const change = (key: number, changed: Partial<VariableRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)))
  const add = () => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    onChange([...rows, { key, name: '', kind: 'text', value: '', sensitive: false }])
  }
  return (
    <Fieldset legend="Variables">
      <Stack gap="xs">
        {rows.map((row) => (
          <Row
            key={row.key}
            row={row}
            onChange={(changed) => change(row.key, changed)}
            onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
          />
        ))}
        {rows.some(({ sensitive }) => sensitive) && (
          <Text size="xs">
            Slipway never shows a secret again. {KEPT_SECRET} keeps the stored value; a secret has at least 4
            characters. To make a stored secret readable, clear the check mark and type a new value.
          </Text>
        )}
        <FieldsetProblem text={error} />
        <Button variant="default" size="xs" onClick={add} style={{ alignSelf: 'start' }}>
          Add a variable
        </Button>
      </Stack>
    </Fieldset>
  )
}

function Row(props: { row: VariableRow; onChange: (changed: Partial<VariableRow>) => void; onRemove: () => void }) {
  const { row, onChange, onRemove } = props
  const label = row.name || 'new variable'
  return (
    <Group gap="xs" wrap="nowrap" role="group" aria-label={label}>
      <TextInput
        aria-label={`Name of ${label}`}
        placeholder="Name"
        required
        pattern="[A-Za-z0-9_]{1,128}"
        title="Letters, digits and underscores"
        flex={2}
        value={row.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Select
        aria-label={`Type of ${label}`}
        w={90}
        allowDeselect={false}
        data={[
          { value: 'text', label: 'Text' },
          { value: 'json', label: 'JSON' },
        ]}
        value={row.kind}
        onChange={(kind) => onChange({ kind: kind === 'json' ? 'json' : 'text' })}
      />
      <TextInput
        aria-label={`Value of ${label}`}
        placeholder={row.kind === 'json' ? '3, true or {"a": 1}' : 'Value'}
        required={row.sensitive || row.kind === 'json'}
        flex={3}
        autoComplete="off"
        value={row.value}
        onChange={(event) => onChange({ value: event.currentTarget.value })}
      />
      <Checkbox
        label="Secret"
        checked={row.sensitive}
        onChange={(event) => onChange({ sensitive: event.currentTarget.checked })}
      />
      <CloseButton aria-label={`Remove ${label}`} onClick={onRemove} />
    </Group>
  )
}
