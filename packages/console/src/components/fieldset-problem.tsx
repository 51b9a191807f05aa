import { Text } from '@mantine/core'

/** What the server says is wrong with a group of inputs. */
export function FieldsetProblem({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {text}
    </Text>
  )
}
