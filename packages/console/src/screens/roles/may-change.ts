import type { Item } from '@slipway/client'
import { useSession } from '../../session/session.tsx'

/** Whether the user may do this to a role. All tenants share the roles, so only users without tenant change them. */
export function useMayChangeRole() {
  const { can, user } = useSession()
  return (act: 'update' | 'delete', { built_in }: Pick<Item<'listRoles'>, 'built_in'>) =>
    can(`roles:${act}`) && user.tenant_id === null && !built_in
}
