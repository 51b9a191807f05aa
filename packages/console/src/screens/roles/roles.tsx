import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { RecordsPage } from '../../components/records-page.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { RoleForm } from './role-form.tsx'
import { RoleTable } from './role-table.tsx'

export function Roles() {
  const { listQuery } = useAddress()
  const { user } = useSession()
  const roles = useRead('listRoles', { query: listQuery }, { keep: true })
  return (
    <RecordsPage
      title="Roles"
      command={curlCommand('/admin/roles')}
      record="role"
      purpose="A role is a set of permissions. Users get roles."
      // All tenants share the roles, so only users without tenant change them.
      {...(user.tenant_id === null ? { permission: 'roles:create' } : {})}
      read={roles}
      form={(role, onClose) => <RoleForm role={role} onClose={onClose} />}
    >
      {(data, open) => <RoleTable roles={data} onOpen={open} />}
    </RecordsPage>
  )
}
