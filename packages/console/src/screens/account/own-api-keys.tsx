import { ACTING_PERMISSIONS } from '@slipway/client'
import { useRead, useWrite } from '../../api/queries.ts'
import { ApiKeys } from '../../components/api-keys.tsx'
import { useSession } from '../../session/session.tsx'

export function OwnApiKeys() {
  const { user, can } = useSession()
  const create = useWrite('createApiKey', 'listApiKeys')
  const revoke = useWrite('deleteApiKey', 'listApiKeys')
  return (
    <ApiKeys
      read={useRead('listApiKeys', {})}
      purpose="A pipeline or a script uses an API key in place of your password. Create one with only the permissions that it needs."
      all="all your permissions"
      scopes={[...new Set([...user.permissions, ...ACTING_PERMISSIONS.filter(can)])].sort()}
      command="slipway keys list"
      create={create}
      onCreate={(body, then) => create.mutate({ body }, then)}
      onRevoke={(id) => revoke.mutateAsync({ params: { id } })}
    />
  )
}
