import { Anchor, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { RecordName } from '../environments/record-select.tsx'
import { TagLinks } from './tags.tsx'

export function TargetTable({ targets }: { targets: Item<'listTargets'>[] }) {
  const { can } = useSession()
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Connection</Table.Th>
            <Table.Th>Environment</Table.Th>
            <Table.Th>Tags</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {targets.map((target) => (
            <Table.Tr key={target.id}>
              <Table.Td>
                <Anchor component={Link} to={`/targets/${target.id}`} size="sm" fw={600}>
                  {target.name}
                </Anchor>
                <Text size="xs">{target.description}</Text>
              </Table.Td>
              <Table.Td>
                <Group gap={4}>
                  <StateBadge state={target.status} />
                  {!target.enabled && <StateBadge state="disabled" />}
                </Group>
              </Table.Td>
              <Table.Td>{target.connection.type}</Table.Td>
              <Table.Td>
                <RecordName kind="environment" id={target.environment_id} />
              </Table.Td>
              <Table.Td>
                <TagLinks tags={target.tags} />
              </Table.Td>
              <Table.Td>
                <TimeAgo at={target.last_seen_at} />
              </Table.Td>
              <Table.Td ta="right">
                {can('deployments:create') && target.enabled && <DeployLink target={target} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function DeployLink({ target }: { target: Item<'listTargets'> }) {
  return (
    <Anchor
      component={Link}
      to="/deploy"
      search={{ targets: target.id } as never}
      size="sm"
      aria-label={`Deploy to it: ${target.name}`}
    >
      Deploy to it
    </Anchor>
  )
}
