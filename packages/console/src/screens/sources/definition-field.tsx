import { Textarea } from '@mantine/core'

interface Props {
  value: string
  onChange: (text: string) => void
  description?: string
}

/** Why the text is not a definition, or null if the server can judge it. */
export function definitionProblem(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'Must be a JSON object'
  } catch (problem) {
    return `Not JSON: ${(problem as Error).message}`
  }
}

/** A definition as JSON text. */
export function DefinitionField({ value, onChange, description }: Props) {
  const problem = definitionProblem(value)
  return (
    <Textarea
      label="Definition (JSON)"
      description={description}
      required
      autosize
      minRows={12}
      maxRows={28}
      spellCheck={false}
      value={value}
      error={problem}
      onChange={(event) => onChange(event.currentTarget.value)}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
    />
  )
}
