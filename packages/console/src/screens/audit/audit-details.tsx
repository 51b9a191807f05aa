import { Anchor, Code, Group, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { RecordName } from '../../components/record-select.tsx'
import { TextBlock } from '../../components/text-block.tsx'

/** Where the screens show one record by its id. */
const SCREENS: Record<string, (id: string) => string> = {
  deployment: (id) => `/deployments/${id}`,
  target: (id) => `/targets/${id}`,
  action: (id) => `/sources/actions/${id}`,
  sequence: (id) => `/sources/sequences/${id}`,
  solution: (id) => `/sources/solutions/${id}`,
}

export function AuditDetails({ record }: { record: Item<'listAuditLogs'> }) {
  const { resource_type, resource_id } = record
  const screen = SCREENS[resource_type]
  return (
    <Stack gap="xs" p="xs">
      <Group gap="lg">
        <Text size="sm">
          At <Code>{record.at}</Code>
        </Text>
        <Text size="sm">
          Request <Code>{record.request_id ?? '–'}</Code>
        </Text>
        {record.api_key_id !== null && (
          <Text size="sm">
            API key {record.api_key_name} <Code>{record.api_key_id}</Code>
          </Text>
        )}
        {resource_id !== null && (
          <Text size="sm">
            {resource_type} <Code>{resource_id}</Code>
          </Text>
        )}
        <Text size="sm">
          Tenant <RecordName kind="tenant" id={record.tenant_id} />
        </Text>
        {screen && resource_id !== null && (
          <Anchor component={Link} to={screen(resource_id)} size="sm">
            Open the {resource_type}
          </Anchor>
        )}
      </Group>
      <TextBlock text={JSON.stringify(record.details, null, 2)} />
    </Stack>
  )
}
