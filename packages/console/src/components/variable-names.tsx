import { Text } from '@mantine/core'

const MAX_SHOWN = 4

/** The first names of the variables of a record. */
export function VariableNames({ variables }: { variables: Record<string, unknown> }) {
  const names = Object.keys(variables)
  if (names.length === 0) return <>–</>
  const more = names.length - MAX_SHOWN
  return (
    <Text size="sm" ff="monospace">
      {names.slice(0, MAX_SHOWN).join(', ')}
      {more > 0 && ` and ${more} more`}
    </Text>
  )
}
