import { Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Item, Schema } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { PermissionGrid } from './permission-grid.tsx'
import type { Permission } from './permissions.ts'

interface Props {
  /** Null for a new role. */
  record: Item<'listRoles'> | null
  onClose: () => void
}

/** A role: to create, to edit, or only to look at. */
export function RoleForm({ record: role, onClose }: Props) {
  const { can } = useSession()
  const [name, setName] = useState(role?.name ?? '')
  const [description, setDescription] = useState(role?.description ?? '')
  const [permissions, setPermissions] = useState<ReadonlySet<string>>(() => new Set(role?.permissions))
  const create = useWrite('createRole', 'listRoles')
  const update = useWrite('updateRole', 'listRoles', 'listUsers', 'getCurrentUser')

  if (role !== null && (role.built_in || !can('roles:update'))) {
    return (
      <Modal
        opened
        onClose={onClose}
        title={`Role ${role.name}`}
        size="xl"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          {role.built_in && <Text size="sm">Every installation has this role. It cannot be changed.</Text>}
          <PermissionGrid value={permissions} stored={role.permissions} onChange={setPermissions} readOnly />
        </Stack>
      </Modal>
    )
  }

  const submit = () => {
    const wanted: Schema<'CreateRole'> = {
      name: name.trim(),
      description: description.trim() || null,
      permissions: [...permissions].sort() as Permission[],
    }
    if (role === null) return create.mutate({ body: wanted }, { onSuccess: onClose })
    const changes = {
      ...(wanted.name === role.name ? {} : { name: wanted.name }),
      ...(wanted.description === role.description ? {} : { description: wanted.description ?? null }),
      ...(wanted.permissions.join() === [...role.permissions].sort().join() ? {} : { permissions: wanted.permissions }),
    }
    if (Object.keys(changes).length === 0) return onClose()
    update.mutate({ params: { id: role.id }, body: changes }, { onSuccess: onClose })
  }

  return (
    <FormModal
      title={role === null ? 'Create role' : `Edit ${role.name}`}
      submitLabel={role === null ? 'Create' : 'Save'}
      size="xl"
      writes={[create, update]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        description="Who gets this role, and for what"
        autosize
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Text size="sm">
        {permissions.size} permissions. You can give only permissions that you have yourself.
        {role !== null && ' A change counts at once for every user who has the role.'}
      </Text>
      <PermissionGrid value={permissions} stored={role?.permissions ?? []} onChange={setPermissions} readOnly={false} />
    </FormModal>
  )
}
