import { Checkbox, Switch } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { RecordForm } from '../../components/record-form.tsx'
import { useSession } from '../../session/session.tsx'
import { changedRights, givenRights, ProviderRights, rightsOf, roleFields, statusSelect } from './rights-fields.tsx'

interface Props {
  /** Null for a new user. */
  user: Item<'listUsers'> | null
  onClose: () => void
}

/** A person who works with Slipway. */
export function UserForm({ user, onClose }: Props) {
  const create = useWrite('createUser', 'listUsers')
  const update = useWrite('updateUser', 'listUsers', 'getUser', 'getCurrentUser')
  const { user: self } = useSession()
  const isFullAdmin = self.tenant_id === null && self.roles.includes('admin')
  const provider = user?.identity?.provider
  return (
    <RecordForm
      kind="user"
      stored={user && { name: user.email ?? user.username }}
      initial={{
        email: user?.email ?? '',
        email_verified: user?.email_verified ?? false,
        username: user?.username ?? '',
        display_name: user?.display_name ?? null,
        password: '',
        break_glass: user?.break_glass ?? false,
        ...rightsOf(user),
      }}
      fields={[
        {
          name: 'email',
          label: 'E-mail',
          description: 'The user logs in with it',
          type: 'email',
          // A provider need not tell the address.
          required: provider === undefined,
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
          description: passwordHint(user),
          type: 'password',
          required: user === null,
          minLength: 12,
          maxLength: 128,
        },
        (form) =>
          user === null || provider === undefined ? (
            roleFields(form)
          ) : (
            <ProviderRights user={user} provider={provider} />
          ),
        ({ values, set }) =>
          isFullAdmin && (
            <Switch
              label="Emergency account"
              description="May log in by password although password login is switched off"
              checked={values.break_glass}
              onChange={(event) => set({ break_glass: event.currentTarget.checked })}
            />
          ),
        statusSelect,
      ]}
      writes={[create, update]}
      save={({ break_glass, ...given }, changed) => {
        const done = { onSuccess: onClose }
        // Only what differs: the server asks for more rights for some fields, and ends sessions for others.
        if (user) update.mutate({ params: { id: user.id }, body: changedRights(changed) }, done)
        else create.mutate({ body: { ...givenRights(given), ...(break_glass ? { break_glass } : {}) } }, done)
      }}
      onClose={onClose}
    />
  )
}

function passwordHint(user: Props['user']): string {
  if (user === null) return '12 to 128 characters'
  const hint = 'Empty: the password stays. A new one has 12 to 128 characters and ends the sessions of the user.'
  return user.identity === null ? hint : `${hint} Of the users of a provider, only an emergency account can have one.`
}
