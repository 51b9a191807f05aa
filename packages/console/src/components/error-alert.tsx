import { Alert, Code, List, Text } from '@mantine/core'
import { ApiError, PermissionError, ValidationError } from '@slipway/client'

/** What went wrong, as the API said it: text, code, request id, and each field that is wrong. */
export function ErrorAlert({ error }: { error: Error }) {
  const title = error instanceof PermissionError ? 'You may not do this' : 'This did not work'
  return (
    <Alert color="red" title={title} role="alert">
      <Text size="sm">{error.message}</Text>
      {error instanceof ValidationError && error.problems.length > 0 && (
        <List size="sm" mt={4}>
          {error.problems.map((problem) => (
            <List.Item key={JSON.stringify(problem)}>
              <Code>{problem.path}</Code> {problem.message}
            </List.Item>
          ))}
        </List>
      )}
      {error instanceof ApiError && (
        <Text size="xs" mt={6}>
          <Code>{error.code}</Code> request <Code>{error.requestId}</Code>
        </Text>
      )}
    </Alert>
  )
}
