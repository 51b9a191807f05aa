import { Modal, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { FieldsetProblem } from '../../components/fieldset-problem.tsx'
import type { Permission } from '../../components/permissions.ts'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { useMayChangeRole } from './may-change.ts'
import { PermissionGrid } from './permission-grid.tsx'

type Role = Item<'listRoles'>

interface Props {
  /** Null for a new role. */
  role: Role | null
  onClose: () => void
}

/** A role: to create, to change, or only to look at. */
export function RoleForm({ role, onClose }: Props) {
  const mayChange = useMayChangeRole()
  return role === null || mayChange('update', role) ? (
    <ChangeRole role={role} onClose={onClose} />
  ) : (
    <ShowRole role={role} onClose={onClose} />
  )
}

function ShowRole({ role, onClose }: { role: Role; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={`Role ${role.name}`} size="xl">
      <Stack>
        {role.built_in && <Text size="sm">Every installation has this role. It cannot be changed.</Text>}
        <PermissionGrid value={new Set(role.permissions)} stored={role.permissions} />
      </Stack>
    </Modal>
  )
}

function ChangeRole({ role, onClose }: Props) {
  const create = useWrite('createRole', 'listRoles')
  const update = useWrite('updateRole', 'listRoles', 'listUsers', 'getCurrentUser')
  return (
    <RecordForm
      kind="role"
      stored={role}
      size="xl"
      initial={{ ...namesOf(role), permissions: (role?.permissions ?? []) as Permission[] }}
      fields={[
        ...NAME_FIELDS,
        ({ values: { permissions }, set, problemAt }) => (
          <>
            <Text size="sm">
              {permissions.length} permissions. You can give only permissions that you have yourself.
              {role !== null && ' A change counts at once for every user who has the role.'}
            </Text>
            <PermissionGrid
              value={new Set(permissions)}
              stored={role?.permissions ?? []}
              onChange={(chosen) => set({ permissions: [...chosen].sort() as Permission[] })}
            />
            <FieldsetProblem text={problemAt('/permissions')} />
          </>
        ),
      ]}
      writes={[create, update]}
      save={(given, changed, expected) => {
        const done = { onSuccess: onClose }
        if (role) update.mutate({ params: { id: role.id }, body: { ...changed, ...expected } }, done)
        else create.mutate({ body: given }, done)
      }}
      onClose={onClose}
    />
  )
}
