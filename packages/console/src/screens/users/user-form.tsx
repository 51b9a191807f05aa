import { Checkbox, Select } from '@mantine/core'
import type { Item, Schema } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { RecordForm } from '../../components/record-form.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { RoleSelect } from './role-select.tsx'

type UserStatus = NonNullable<Schema<'CreateUser'>['status']>

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
  const create = useWrite('createUser', 'listUsers')
  const update = useWrite('updateUser', 'listUsers', 'getUser', 'getCurrentUser')
  return (
    <RecordForm
      kind="user"
      stored={user?.email ?? undefined}
      initial={{
        email: user?.email ?? '',
        email_verified: user?.email_verified ?? false,
        username: user?.username ?? '',
        display_name: user?.display_name ?? null,
        password: '',
        roles: user?.roles ?? [],
        tenant_id: user?.tenant_id ?? null,
        status: (user?.status as UserStatus | undefined) ?? 'active',
      }}
      fields={[
        {
          name: 'email',
          label: 'E-mail',
          description: 'The user logs in with it',
          type: 'email',
          required: true,
          maxLength: 320,
        },
        ({ values, set }) => (
          <Checkbox
            label="The e-mail address is known to belong to the user"
            checked={values.email_verified}
            onChange={(event) => set({ email_verified: event.currentTarget.checked })}
          />
        ),
        {
          name: 'username',
          label: 'User name',
          description: 'Stands wherever the user did something',
          required: true,
          maxLength: 255,
        },
        { name: 'display_name', label: 'Display name', isNullable: true, maxLength: 255 },
        {
          name: 'password',
          label: user === null ? 'Password' : 'New password',
          description:
            user === null
              ? '12 to 128 characters'
              : 'Empty: the password stays. A new one has 12 to 128 characters and ends the sessions of the user.',
          type: 'password',
          required: user === null,
          minLength: 12,
          maxLength: 128,
        },
        ({ bind }) => <RoleSelect {...bind('roles')} />,
        ({ bind }) => (
          <TenantSelect
            description="The user sees only this tenant. Without a tenant, the user sees all tenants."
            {...bind('tenant_id')}
          />
        ),
        ({ values, set }) => (
          <Select
            label="Status"
            description="A user who is suspended or inactive can do nothing"
            allowDeselect={false}
            data={Object.entries(STATUSES).map(([value, label]) => ({ value: value as UserStatus, label }))}
            value={values.status}
            onChange={(status) => status !== null && set({ status })}
          />
        ),
      ]}
      writes={[create, update]}
      save={({ tenant_id, ...given }, changed) => {
        const done = { onSuccess: onClose }
        // Only what differs: the server asks for more rights for some fields, and ends sessions for others.
        if (user) update.mutate({ params: { id: user.id }, body: changed }, done)
        // Without a tenant_id, the new user of a caller with a tenant gets that tenant.
        else create.mutate({ body: tenant_id === null ? given : { ...given, tenant_id } }, done)
      }}
      onClose={onClose}
    />
  )
}
