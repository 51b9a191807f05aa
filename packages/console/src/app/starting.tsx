import { Button, Center, Loader, Stack } from '@mantine/core'
import { ErrorAlert } from '../components/error-alert.tsx'

export function Starting({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  return (
    <Center mih="100vh" p="md" component="main">
      {error === null ? (
        <Loader aria-label="Loading" />
      ) : (
        <Stack maw={520}>
          <ErrorAlert error={error} />
          <Button onClick={onRetry}>Try again</Button>
        </Stack>
      )}
    </Center>
  )
}
