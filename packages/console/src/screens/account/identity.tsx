import { Badge, Code, Group, Spoiler, Stack, Table, Text, Title } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantName } from '../administration/tenant.tsx'

/** Who is logged in, with roles and permissions. */
export function Identity() {
  const { user, can } = useSession()
  // The current user's record has no tenant.
  const record = useRead('getUser', { params: { id: user.id } }, { enabled: can('users:read') })
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h4">
        Who you are
      </Title>
      <Table variant="vertical" layout="fixed" withTableBorder>
        <Table.Tbody>
          <Table.Tr>
            <Table.Th w={160}>Name</Table.Th>
            <Table.Td>
              {user.display_name ?? user.username} <Code>{user.username}</Code>
            </Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>E-mail</Table.Th>
            <Table.Td>
              {user.email}, {user.email_verified ? 'verified' : 'not verified'}
            </Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>Status</Table.Th>
            <Table.Td>
              <StateBadge state={user.status} />
            </Table.Td>
          </Table.Tr>
          {record.data && (
            <Table.Tr>
              <Table.Th>Tenant</Table.Th>
              <Table.Td>
                {record.data.tenant_id === null ? 'None: all tenants' : <TenantName id={record.data.tenant_id} />}
              </Table.Td>
            </Table.Tr>
          )}
          <Table.Tr>
            <Table.Th>Roles</Table.Th>
            <Table.Td>{user.roles.join(', ') || 'None'}</Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>Permissions</Table.Th>
            <Table.Td>
              <Permissions names={user.permissions} />
            </Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>Last login</Table.Th>
            <Table.Td>
              <TimeAgo at={user.last_login_at} />
            </Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>Created</Table.Th>
            <Table.Td>
              <TimeAgo at={user.created_at} />
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

function Permissions({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <Text size="sm">None</Text>
  return (
    <Spoiler maxHeight={52} showLabel={`Show all ${names.length}`} hideLabel="Show fewer">
      <Group gap={4}>
        {names.map((name) => (
          <Badge key={name} variant="default" tt="none" radius="sm" fw={400}>
            {name}
          </Badge>
        ))}
      </Group>
    </Spoiler>
  )
}
