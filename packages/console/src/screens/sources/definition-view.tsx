import { Code, Group, SegmentedControl, Stack } from '@mantine/core'
import { useMemo, useState } from 'react'
import { definitionLines } from './definition-text.ts'
import { highlightLines, TOKEN_COLOURS, type Token } from './highlight.ts'

type Form = 'yaml' | 'json'

/** A definition to read, as YAML or JSON. */
export function DefinitionView({ definition }: { definition: unknown }) {
  const [form, setForm] = useState<Form>('yaml')
  const lines = useMemo(() => {
    const text = form === 'json' ? JSON.stringify(definition, null, 2).split('\n') : definitionLines(definition)
    return highlightLines(text)
  }, [definition, form])
  return (
    <Stack gap="xs">
      <Group>
        <SegmentedControl
          size="xs"
          aria-label="Form of the definition"
          value={form}
          onChange={(chosen) => setForm(chosen as Form)}
          data={[
            { value: 'yaml', label: 'YAML' },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </Group>
      <Code block tabIndex={0} role="region" aria-label="Definition" style={{ maxHeight: '70vh', fontSize: 13 }}>
        {lines.map((tokens, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a published definition never change
          <HighlightedLine key={index} tokens={tokens} />
        ))}
      </Code>
    </Stack>
  )
}

function HighlightedLine({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a line have no other identity
        <span key={index} style={{ color: TOKEN_COLOURS[kind] }}>
          {text}
        </span>
      ))}
      {'\n'}
    </>
  )
}
