import type { Item } from '@slipway/client'
import { useNavigate } from '@tanstack/react-router'
import { useWrite } from '../../api/queries.ts'
import { RecordForm } from '../../components/record-form.tsx'
import { changedRights, givenRights, rightsOf, roleFields, statusSelect } from './rights-fields.tsx'

interface Props {
  /** Null for a new account. */
  account: Item<'listUsers'> | null
  onClose: () => void
}

/** An account of a pipeline: it has no address and no password, and nobody logs in to it. */
export function ServiceAccountForm({ account, onClose }: Props) {
  const navigate = useNavigate()
  const create = useWrite('createUser', 'listUsers')
  const update = useWrite('updateUser', 'listUsers', 'getUser')
  return (
    <RecordForm
      kind="service account"
      stored={account && { name: account.username }}
      initial={{
        username: account?.username ?? '',
        display_name: account?.display_name ?? null,
        ...rightsOf(account),
      }}
      fields={[
        {
          name: 'username',
          label: 'Name',
          description: 'The pipeline names it, and it stands wherever the pipeline did something',
          required: true,
          maxLength: 255,
        },
        { name: 'display_name', label: 'Display name', isNullable: true, maxLength: 255 },
        roleFields,
        statusSelect,
      ]}
      writes={[create, update]}
      save={(given, changed) => {
        if (account) {
          update.mutate({ params: { id: account.id }, body: changedRights(changed) }, { onSuccess: onClose })
        } else {
          const body = { kind: 'service' as const, ...givenRights(given) }
          create.mutate({ body }, { onSuccess: ({ id }) => void navigate({ to: `/users/${id}` }) })
        }
      }}
      onClose={onClose}
    />
  )
}
