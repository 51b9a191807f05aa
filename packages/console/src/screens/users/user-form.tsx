import { Checkbox, PasswordInput, Select, TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { RoleSelect } from './role-select.tsx'
import { fieldsOf, toChanges, toNewUser, type UserFields, type UserStatus } from './user-fields.ts'

const STATUSES: Record<UserStatus, string> = {
  active: 'Active',
  inactive: 'Inactive',
  suspended: 'Suspended',
}

interface Props {
  /** Null for a new user. */
  user: Item<'listUsers'> | null
  onClose: () => void
}

export function UserForm({ user, onClose }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(user))
  const create = useWrite('createUser', 'listUsers')
  const update = useWrite('updateUser', 'listUsers', 'getUser', 'getCurrentUser')
  const set = (changed: Partial<UserFields>) => setFields((before) => ({ ...before, ...changed }))
  const submit = () => {
    if (user === null) return create.mutate({ body: toNewUser(fields) }, { onSuccess: onClose })
    const changes = toChanges(user, fields)
    if (Object.keys(changes).length === 0) return onClose()
    update.mutate({ params: { id: user.id }, body: changes }, { onSuccess: onClose })
  }
  return (
    <FormModal
      title={user === null ? 'New user' : `Change ${user.email}`}
      submitLabel={user === null ? 'Create' : 'Save'}
      writes={[create, update]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="E-mail"
        description="The user logs in with it"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        maxLength={320}
        value={fields.email}
        onChange={(event) => set({ email: event.currentTarget.value })}
      />
      <Checkbox
        label="The e-mail address is known to belong to the user"
        checked={fields.email_verified}
        onChange={(event) => set({ email_verified: event.currentTarget.checked })}
      />
      <TextInput
        label="User name"
        description="Stands wherever the user did something"
        autoComplete="off"
        required
        maxLength={255}
        value={fields.username}
        onChange={(event) => set({ username: event.currentTarget.value })}
      />
      <TextInput
        label="Display name"
        autoComplete="off"
        maxLength={255}
        value={fields.display_name}
        onChange={(event) => set({ display_name: event.currentTarget.value })}
      />
      <PasswordInput
        label={user === null ? 'Password' : 'New password'}
        description={
          user === null
            ? '12 to 128 characters'
            : 'Empty: the password stays. A new one has 12 to 128 characters and ends the sessions of the user.'
        }
        autoComplete="new-password"
        required={user === null}
        minLength={12}
        maxLength={128}
        value={fields.password}
        onChange={(event) => set({ password: event.currentTarget.value })}
      />
      <RoleSelect value={fields.roles} onChange={(roles) => set({ roles })} />
      <TenantSelect
        description="The user sees only this tenant. Without a tenant, the user sees all tenants."
        value={fields.tenant_id}
        onChange={(tenant_id) => set({ tenant_id })}
      />
      <Select
        label="Status"
        description="A user who is suspended or inactive can do nothing"
        allowDeselect={false}
        data={Object.entries(STATUSES).map(([value, label]) => ({ value: value as UserStatus, label }))}
        value={fields.status}
        onChange={(status) => status !== null && set({ status })}
      />
    </FormModal>
  )
}
