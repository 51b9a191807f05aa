import { Code, Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { UserForm } from './user-form.tsx'

export function Users() {
  const { search, listQuery } = useAddress()
  const { can, user: self } = useSession()
  const users = useRead('listUsers', { query: listQuery }, { keep: true })
  const text = search['search']
  return (
    <ListScreen
      title="Users"
      command={text ? `slipway users list --search ${JSON.stringify(text)}` : 'slipway users list'}
      record="user"
      searched="Name or e-mail"
      purpose="Create a user for each person who works with Slipway."
      permission="users:create"
      read={users}
      form={(user, onClose) => <UserForm user={user} onClose={onClose} />}
      minWidth={860}
      columns={[
        {
          head: 'User',
          cell: ({ display_name, username }) => (
            <Named name={display_name ?? username}>
              <Code>{username}</Code>
            </Named>
          ),
        },
        {
          head: 'E-mail',
          maxWidth: 260,
          cell: ({ email, email_verified }) => (
            <>
              {email}
              {!email_verified && <Text size="xs">not verified</Text>}
            </>
          ),
        },
        { head: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Roles', cell: ({ roles }) => roles.join(', ') || '–' },
        { head: 'Tenant', cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
        { head: 'Created', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
      ]}
      actions={({ id, email, username }, open) => (
        <RecordButtons
          id={id}
          name={email ?? username}
          mayChange={can('users:update')}
          onChange={open}
          mayDelete={can('users:delete') && id !== self.id}
          deletion={['deleteUser', 'listUsers']}
          question={`The user ${email} is deleted. Sessions, streams and API keys of this user end at once.`}
        />
      )}
    />
  )
}
