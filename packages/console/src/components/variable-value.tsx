import { Code } from '@mantine/core'

/** The value of a variable as text; a dash where there is none. */
export function VariableValue({ value }: { value: unknown }) {
  if (value === undefined) return <>–</>
  return (
    <Code style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {value === '' ? '(empty)' : typeof value === 'string' ? value : JSON.stringify(value)}
    </Code>
  )
}
