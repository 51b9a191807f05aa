import { Modal, Stack, Text } from '@mantine/core'
import type { Item, Schema } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { changesOf } from '../../components/changes.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { NameFields, useNameFields } from '../../components/name-fields.tsx'
import { useMayChangeRole } from './may-change.ts'
import { PermissionGrid } from './permission-grid.tsx'
import type { Permission } from './permissions.ts'

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
  const named = useNameFields(role)
  const [permissions, setPermissions] = useState<ReadonlySet<string>>(() => new Set(role?.permissions))
  const create = useWrite('createRole', 'listRoles')
  const update = useWrite('updateRole', 'listRoles', 'listUsers', 'getCurrentUser')

  const submit = () => {
    const wanted: Schema<'CreateRole'> = { ...named.fields, permissions: [...permissions].sort() as Permission[] }
    if (role === null) return create.mutate({ body: wanted }, { onSuccess: onClose })
    const changes = changesOf(role, wanted)
    if (Object.keys(changes).length === 0) return onClose()
    update.mutate({ params: { id: role.id }, body: changes }, { onSuccess: onClose })
  }

  return (
    <FormModal
      title={role === null ? 'New role' : `Change ${role.name}`}
      submitLabel={role === null ? 'Create' : 'Save'}
      size="xl"
      writes={[create, update]}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameFields {...named.inputs} />
      <Text size="sm">
        {permissions.size} permissions. You can give only permissions that you have yourself.
        {role !== null && ' A change counts at once for every user who has the role.'}
      </Text>
      <PermissionGrid value={permissions} stored={role?.permissions ?? []} onChange={setPermissions} />
    </FormModal>
  )
}
