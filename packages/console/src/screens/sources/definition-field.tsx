import { Input, SegmentedControl, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { type Kind, PART_OF } from '../../components/source-kinds.ts'
import { definitionText, parseDefinition } from './definition-text.ts'
import { PartsField } from './parts-field.tsx'

interface Props {
  kind: Kind
  /** YAML or JSON. */
  value: string
  onChange: (text: string) => void
  /** What the server says is wrong with the whole of it. */
  problem: string | undefined
  /** The same for its parts. */
  error: Error | null
  note?: string
}

const HELP: Record<Kind, string> = {
  action:
    'In the script, {{ name }} is a variable. Further fields: interpreter (sh, bash, python3, node, pwsh), env, files, working_directory, max_retries',
  sequence: 'Actions run in this order. A requirement such as ^1.0.0 takes the newest version that fits',
  solution: 'Sequences run in this order. A requirement such as ^1.0.0 takes the newest version that fits',
}

/** A definition: the parts of sequences and solutions as rows, everything as YAML. */
export function DefinitionField({ kind, value, onChange, problem, error, note }: Props) {
  const part = PART_OF[kind]
  const [isText, setText] = useState(part === null)
  const parsed = parseDefinition(value)
  const description = note ?? HELP[kind]
  return (
    <Stack gap="xs">
      {part !== null && (
        <SegmentedControl
          aria-label="How the definition is written"
          w="fit-content"
          size="xs"
          disabled={'problem' in parsed}
          value={isText ? 'text' : 'parts'}
          onChange={(chosen) => setText(chosen === 'text')}
          data={[
            { value: 'parts', label: 'Form' },
            { value: 'text', label: 'YAML' },
          ]}
        />
      )}
      {isText || part === null || 'problem' in parsed ? (
        <Textarea
          label="Definition (YAML)"
          description={description}
          required
          autosize
          minRows={12}
          maxRows={28}
          spellCheck={false}
          value={value}
          error={'problem' in parsed ? parsed.problem : problem}
          onChange={(event) => onChange(event.currentTarget.value)}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
      ) : (
        <Input.Wrapper label={`Its ${part}s`} labelElement="div" description={description}>
          <PartsField
            part={part}
            definition={parsed.definition}
            onChange={(definition) => onChange(definitionText(definition))}
            error={error}
          />
        </Input.Wrapper>
      )}
    </Stack>
  )
}
