import { Badge, Group, Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { useMayChangeRole } from './may-change.ts'
import { RoleForm } from './role-form.tsx'

const SORTED = ['name', 'created_at'] as const

export function Roles() {
  const { search, listQuery } = useAddress()
  const { user } = useSession()
  const mayChange = useMayChangeRole()
  const roles = useRead('listRoles', { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } }, { keep: true })
  return (
    <ListScreen
      title="Roles"
      command={curlCommand('/admin/roles')}
      record="role"
      purpose="A role is a set of permissions. Users get roles."
      // All tenants share the roles, so only users without tenant change them.
      permission={user.tenant_id === null ? 'roles:create' : undefined}
      read={roles}
      form={(role, onClose) => <RoleForm role={role} onClose={onClose} />}
      columns={[
        {
          head: 'Name',
          sort: 'name',
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
        { head: 'Description', cell: ({ description }) => description ?? '–' },
        { head: 'Permissions', width: 110, cell: ({ permissions }) => permissions.length },
        { head: 'Changed', width: 112, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
      ]}
      actions={(role, open) => (
        <RecordButtons
          id={role.id}
          name={role.name}
          // The form shows a role that the user must not change.
          mayChange
          changeLabel={mayChange('update', role) ? 'Edit' : 'Show'}
          onChange={open}
          mayDelete={mayChange('delete', role)}
          deletion={['deleteRole', 'listRoles']}
          question={`The role ${role.name} is deleted. Slipway refuses this while a user has the role.`}
        />
      )}
    />
  )
}
