import { Alert, Button, Code, List, Stack, Text } from '@mantine/core'
import type { ConflictError } from '@slipway/client'

interface Difference {
  path: string
  message: string
  actual: string
}

/** The parts of the plan that differ from the preview; empty for a conflict of another kind. */
export function differencesOf({ details }: ConflictError): Difference[] {
  const { differences } = details as { differences?: Difference[] }
  return Array.isArray(differences) ? differences : []
}

interface Props {
  differences: Difference[]
  busy: boolean
  onPreview: () => void
}

export function PlanChanged({ differences, busy, onPreview }: Props) {
  return (
    <Alert color="orange" title="The plan has changed since the preview. Nothing has started." role="alert">
      <Stack gap="xs" align="start">
        <List size="sm">
          {differences.map(({ path, message, actual }) => (
            <List.Item key={path}>
              <Code>{path}</Code> {message}
              <Text size="sm">Now: {actual}</Text>
            </List.Item>
          ))}
        </List>
        <Button loading={busy} onClick={onPreview}>
          Preview again
        </Button>
      </Stack>
    </Alert>
  )
}
