import { Badge, Code, Group, Spoiler, Text } from '@mantine/core'
import { RecordName } from '../../components/record-select.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

/** Who is logged in, with roles and permissions. */
export function Identity() {
  const { user } = useSession()
  return (
    <Section title="Who you are">
      <Facts
        facts={[
          [
            'Name',
            <>
              {user.display_name ?? user.username} <Code>{user.username}</Code>
            </>,
          ],
          [
            'E-mail',
            user.email === null ? 'None' : `${user.email}, ${user.email_verified ? 'verified' : 'not verified'}`,
          ],
          ['Status', <StateBadge key="status" state={user.status} />],
          ['Tenant', <RecordName key="tenant" kind="tenant" id={user.tenant_id} none="None: you see all tenants" />],
          ['Roles', user.roles.join(', ') || 'None'],
          ['Permissions', <Permissions key="permissions" names={user.permissions} />],
          ['Created', <TimeAgo key="created" at={user.created_at} />],
        ]}
      />
    </Section>
  )
}

function Permissions({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <Text size="sm">None</Text>
  return (
    <Spoiler maxHeight={74} showLabel={`Show all ${names.length}`} hideLabel="Show fewer">
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
