import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core'
import { fieldProblem } from '../../components/field-problem.ts'
import { RecordSelect } from '../../components/record-select.tsx'
import type { Kind } from '../../components/source-kinds.ts'
import { type Definition, isObject } from './definition-text.ts'

interface Props {
  /** What the rows are. */
  part: Kind
  definition: Definition
  onChange: (definition: Definition) => void
  error: Error | null
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** The parts of a sequence or a solution by name, in order. Other fields of the definition stay as they are. */
export function PartsField({ part, definition, onChange, error }: Props) {
  const list = `${part}s`
  const entries = Array.isArray(definition[list]) ? definition[list].filter(isObject) : []
  const change = (changed: Definition[]) => onChange({ ...definition, [list]: changed })
  const replace = (at: number, changes: Definition) =>
    change(entries.map((entry, index) => (index === at ? withoutEmpty({ ...entry, ...changes }) : entry)))
  const moveUp = (at: number) =>
    change(entries.map((entry, index) => entries[index === at ? at - 1 : index === at - 1 ? at : index] ?? entry))
  return (
    <Stack gap="xs" align="start" mt="xs">
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same part may appear several times, and has no other identity
        <Group key={index} gap="xs" wrap="nowrap" align="end" w="100%">
          <RecordSelect
            flex={2}
            label={`${index + 1}. ${part}`}
            required
            kind={part}
            value={textOf(entry[`${part}_id`]) || null}
            onChange={(id) => replace(index, { [`${part}_id`]: id ?? '', version_requirement: undefined })}
            error={fieldProblem(error, `/definition/${list}/${index}`)}
          />
          <TextInput
            flex={1}
            label="Version requirement"
            placeholder="newest"
            value={textOf(entry['version_requirement'])}
            onChange={(event) => replace(index, { version_requirement: event.currentTarget.value || undefined })}
          />
          <ActionIcon
            variant="default"
            size={36}
            disabled={index === 0}
            aria-label={`Move number ${index + 1} up`}
            onClick={() => moveUp(index)}
          >
            ↑
          </ActionIcon>
          <ActionIcon
            variant="default"
            size={36}
            disabled={entries.length === 1}
            aria-label={`Remove number ${index + 1}`}
            onClick={() => change(entries.filter((_, at) => at !== index))}
          >
            ✕
          </ActionIcon>
        </Group>
      ))}
      <Button variant="default" size="xs" onClick={() => change([...entries, { [`${part}_id`]: '' }])}>
        Add {part === 'action' ? 'an action' : 'a sequence'}
      </Button>
    </Stack>
  )
}

const withoutEmpty = (entry: Definition) =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
