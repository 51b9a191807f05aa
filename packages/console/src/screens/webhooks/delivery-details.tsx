import { Code, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { TextBlock } from '../../components/text-block.tsx'

export function DeliveryDetails({ delivery }: { delivery: Item<'listWebhookDeliveries'> }) {
  const { id, error, response_body, payload } = delivery
  return (
    <Stack gap="xs" p="xs">
      <Text size="sm">
        Sent as <Code>webhook-id: {id}</Code>
      </Text>
      {error && <TextBlock title="Error of the last attempt" text={error} />}
      {response_body && <TextBlock title="Last answer, its first 1,024 characters" text={response_body} />}
      <TextBlock title="Payload, its first 1,024 characters" text={formatted(payload)} />
    </Stack>
  )
}

/** JSON with indents; a payload that was cut off is not JSON and stays as it is. */
function formatted(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
