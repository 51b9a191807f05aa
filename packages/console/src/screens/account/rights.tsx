import { Badge, Group, Spoiler, Text } from '@mantine/core'
import { ACTING_PERMISSIONS } from '@slipway/client'
import { RoleWords } from '../../components/limit-words.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { useSession } from '../../session/session.tsx'
import { MayI } from './may-i.tsx'

/** What the user may do: roles, permissions, and an answer to a question. */
export function Rights() {
  const { user, can, canEverywhere } = useSession()
  const scoped = ACTING_PERMISSIONS.filter((permission) => can(permission) && !canEverywhere(permission))
  return (
    <Section title="What you may do">
      <Facts
        facts={[
          ['Roles', <RoleWords key="roles" user={user} />],
          ['Permissions', <Permissions key="permissions" names={user.permissions} />],
          ['In the scopes of your roles', <Permissions key="scoped" names={scoped} />],
        ]}
      />
      <MayI />
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
