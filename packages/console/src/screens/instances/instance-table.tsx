import { Badge, Group, Progress, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { TenantName } from '../administration/tenant.tsx'
import { InstanceActions } from './instance-actions.tsx'

type Instance = Item<'listInstances'>

export function InstanceTable({ instances }: { instances: Instance[] }) {
  return (
    <Table.ScrollContainer minWidth={900}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Slots in use</Table.Th>
            <Table.Th>Version</Table.Th>
            <Table.Th>Labels</Table.Th>
            <Table.Th>Tenant</Table.Th>
            <Table.Th>Last heartbeat</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {instances.map((instance) => (
            <Table.Tr key={instance.id}>
              <Table.Td>
                <Text size="sm" fw={600}>
                  {instance.name}
                </Text>
              </Table.Td>
              <Table.Td>
                <StateBadge state={instance.status} />
              </Table.Td>
              <Table.Td>
                <Slots instance={instance} />
              </Table.Td>
              <Table.Td>{instance.version}</Table.Td>
              <Table.Td>
                <Labels labels={instance.labels} />
              </Table.Td>
              <Table.Td>{instance.tenant_id === null ? 'all' : <TenantName id={instance.tenant_id} />}</Table.Td>
              <Table.Td>
                <TimeAgo at={instance.last_heartbeat_at} />
              </Table.Td>
              <Table.Td>
                <InstanceActions instance={instance} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function Slots({ instance: { active, capacity, name } }: { instance: Instance }) {
  const share = capacity === 0 ? 0 : Math.min(100, (active / capacity) * 100)
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress.Root size="lg" w={100}>
        <Progress.Section value={share} aria-label={`Slots of ${name} in use`} />
      </Progress.Root>
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        {active} of {capacity}
      </Text>
    </Group>
  )
}

/** A label without a value stands for any value. */
export function Labels({ labels }: { labels: Record<string, string | null> }) {
  const entries = Object.entries(labels)
  if (entries.length === 0) return <>–</>
  return (
    <Group gap={4}>
      {entries.map(([key, value]) => (
        <Badge key={key} variant="default" tt="none" radius="sm">
          {value === null ? key : `${key}=${value}`}
        </Badge>
      ))}
    </Group>
  )
}
