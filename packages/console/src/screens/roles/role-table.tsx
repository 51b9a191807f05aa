import { Badge, Group, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { ChangeButton, DeleteButton } from '../../components/row-buttons.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useMayChangeRole } from './may-change.ts'

type Role = Item<'listRoles'>

export function RoleTable({ roles, onOpen }: { roles: readonly Role[]; onOpen: (role: Role) => void }) {
  return (
    <DataTable
      rows={roles}
      minWidth={640}
      columns={[
        {
          head: 'Name',
          cell: ({ name, built_in }) => (
            <Group gap="xs">
              <Text size="sm" fw={600}>
                {name}
              </Text>
              {built_in && (
                <Badge variant="default" tt="none" radius="sm">
                  built in
                </Badge>
              )}
            </Group>
          ),
        },
        { head: 'Description', maxWidth: 420, cell: ({ description }) => description ?? '–' },
        { head: 'Permissions', cell: ({ permissions }) => permissions.length },
        { head: 'Changed', cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
      ]}
      actions={(role) => <Actions role={role} onOpen={() => onOpen(role)} />}
    />
  )
}

function Actions({ role, onOpen }: { role: Role; onOpen: () => void }) {
  const mayChange = useMayChangeRole()
  const remove = useWrite('deleteRole', 'listRoles')
  const { id, name } = role
  return (
    <>
      <ChangeButton label={mayChange('update', role) ? 'Change' : 'Show'} name={name} onClick={onOpen} />
      {mayChange('delete', role) && (
        <DeleteButton
          name={name}
          question={`The role ${name} is deleted. Slipway refuses this while a user has the role.`}
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        />
      )}
    </>
  )
}
