import { Code, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { ChangeButton, DeleteButton } from '../../components/row-buttons.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

type User = Item<'listUsers'>

export function UserTable({ users, onChange }: { users: readonly User[]; onChange: (user: User) => void }) {
  return (
    <DataTable
      rows={users}
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
      actions={(user) => <Actions user={user} onChange={() => onChange(user)} />}
    />
  )
}

function Actions({ user: { id, email }, onChange }: { user: User; onChange: () => void }) {
  const { can, user: self } = useSession()
  const remove = useWrite('deleteUser', 'listUsers')
  return (
    <>
      {can('users:update') && <ChangeButton name={email} onClick={onChange} />}
      {can('users:delete') && id !== self.id && (
        <DeleteButton
          name={email}
          question={`The user ${email} is deleted. Sessions, streams and API keys of this user end at once.`}
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        />
      )}
    </>
  )
}
