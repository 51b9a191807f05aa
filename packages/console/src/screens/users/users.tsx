import { useRead } from '../../api/queries.ts'
import { RecordsPage } from '../../components/records-page.tsx'
import { useAddress } from '../../components/use-address.ts'
import { UserForm } from './user-form.tsx'
import { UserTable } from './user-table.tsx'

export function Users() {
  const { search, listQuery } = useAddress()
  const users = useRead('listUsers', { query: listQuery }, { keep: true })
  const wanted = search['search']
  return (
    <RecordsPage
      title="Users"
      command={wanted ? `slipway users list --search ${JSON.stringify(wanted)}` : 'slipway users list'}
      record="user"
      searched="Name or e-mail"
      purpose="Create a user for each person who works with Slipway."
      permission="users:create"
      read={users}
      form={(user, onClose) => <UserForm user={user} onClose={onClose} />}
    >
      {(data, change) => <UserTable users={data} onChange={change} />}
    </RecordsPage>
  )
}
