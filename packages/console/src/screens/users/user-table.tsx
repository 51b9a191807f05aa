import { Button, Code, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantName } from '../administration/tenant.tsx'
import { UserForm } from './user-form.tsx'

type User = Item<'listUsers'>

export function UserTable({ users }: { users: readonly User[] }) {
  const [edited, setEdited] = useState<User | null>(null)
  return (
    <>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>User</Table.Th>
              <Table.Th>E-mail</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Roles</Table.Th>
              <Table.Th>Tenant</Table.Th>
              <Table.Th>Created</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.map((user) => (
              <UserRow key={user.id} user={user} onEdit={() => setEdited(user)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {edited && <UserForm user={edited} onClose={() => setEdited(null)} />}
    </>
  )
}

function UserRow({ user, onEdit }: { user: User; onEdit: () => void }) {
  const { can, user: self } = useSession()
  const remove = useWrite('deleteUser', 'listUsers')
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {user.display_name ?? user.username}
        </Text>
        <Code>{user.username}</Code>
      </Table.Td>
      <Table.Td>
        {user.email}
        {!user.email_verified && <Text size="xs">not verified</Text>}
      </Table.Td>
      <Table.Td>
        <StateBadge state={user.status} />
      </Table.Td>
      <Table.Td>{user.roles.join(', ') || '–'}</Table.Td>
      <Table.Td>
        <TenantName id={user.tenant_id} />
      </Table.Td>
      <Table.Td>
        <TimeAgo at={user.created_at} />
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap" justify="flex-end">
          {can('users:update') && (
            <Button size="compact-xs" variant="default" aria-label={`Edit ${user.email}`} onClick={onEdit}>
              Edit
            </Button>
          )}
          {can('users:delete') && user.id !== self.id && (
            <ConfirmButton
              size="compact-xs"
              variant="default"
              label="Delete"
              aria-label={`Delete ${user.email}`}
              question={`The user ${user.email} is deleted. Sessions, streams and API keys of this user end at once.`}
              onConfirm={() => remove.mutateAsync({ params: { id: user.id } })}
            />
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
