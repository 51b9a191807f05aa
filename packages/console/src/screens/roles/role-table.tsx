import { Badge, Button, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { RoleForm } from './role-form.tsx'

type Role = Item<'listRoles'>

export function RoleTable({ roles }: { roles: readonly Role[] }) {
  const [opened, setOpened] = useState<Role | null>(null)
  return (
    <>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Description</Table.Th>
              <Table.Th>Permissions</Table.Th>
              <Table.Th>Changed</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {roles.map((role) => (
              <RoleRow key={role.id} role={role} onOpen={() => setOpened(role)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {opened && <RoleForm record={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function RoleRow({ role, onOpen }: { role: Role; onOpen: () => void }) {
  const { can } = useSession()
  const remove = useWrite('deleteRole', 'listRoles')
  const isEditable = can('roles:update') && !role.built_in
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {role.name}
          </Text>
          {role.built_in && (
            <Badge variant="default" tt="none" radius="sm">
              built in, read-only
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td maw={420}>{role.description ?? '–'}</Table.Td>
      <Table.Td>{role.permissions.length}</Table.Td>
      <Table.Td>
        <TimeAgo at={role.updated_at} />
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap" justify="flex-end">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${isEditable ? 'Edit' : 'Show'} ${role.name}`}
            onClick={onOpen}
          >
            {isEditable ? 'Edit' : 'Show'}
          </Button>
          {can('roles:delete') && !role.built_in && (
            <ConfirmButton
              size="compact-xs"
              variant="default"
              label="Delete"
              aria-label={`Delete ${role.name}`}
              question={`The role ${role.name} is deleted. This is refused while a user has the role.`}
              onConfirm={() => remove.mutateAsync({ params: { id: role.id } })}
            />
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
