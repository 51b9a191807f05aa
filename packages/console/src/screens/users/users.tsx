import { Anchor, Badge, Button, Code, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { shellQuoted } from '../../components/commands.ts'
import { RoleWords } from '../../components/limit-words.tsx'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { ServiceAccountForm } from './service-account-form.tsx'
import { UserForm } from './user-form.tsx'

type User = Item<'listUsers'>

const SORTED = ['name', 'created_at'] as const

export function Users() {
  const { search, change, listQuery } = useAddress()
  const { can, user: self } = useSession()
  const users = useRead('listUsers', { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } }, { keep: true })
  const text = search['search']
  return (
    <ListScreen
      title="Users"
      command={text ? `slipway users list --search ${shellQuoted(text)}` : 'slipway users list'}
      record="user"
      searched="Name or e-mail"
      purpose="Create a user for each person who works with Slipway, and a service account for each pipeline."
      permission="users:create"
      links={
        can('users:create') && (
          <Button size="xs" variant="default" onClick={() => change({ new: 'service' })}>
            New service account
          </Button>
        )
      }
      read={users}
      form={(user, onClose) =>
        (user === null ? search['new'] === 'service' : user.kind === 'service') ? (
          <ServiceAccountForm account={user} onClose={onClose} />
        ) : (
          <UserForm user={user} onClose={onClose} />
        )
      }
      columns={[
        { head: 'User', sort: 'name', cell: (user) => <UserName user={user} /> },
        { head: 'E-mail', copied: ({ email }) => email, cell: (user) => <Email user={user} /> },
        { head: 'Logs in with', width: 120, cell: loginOf },
        { head: 'Status', width: 110, wraps: true, cell: (user) => <Status user={user} /> },
        { head: 'Roles', wraps: true, cell: (user) => <RoleWords user={user} /> },
        { head: 'Tenant', width: 120, cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
        {
          head: 'Created',
          sort: '-created_at',
          isExtra: true,
          width: 112,
          cell: ({ created_at }) => <TimeAgo at={created_at} />,
        },
      ]}
      actions={({ id, email, username }, open) => (
        <RecordButtons
          id={id}
          name={email ?? username}
          mayChange={can('users:update')}
          onChange={open}
          mayDelete={can('users:delete') && id !== self.id}
          deletion={['deleteUser', 'listUsers']}
          question={`The user ${email ?? username} is deleted. Sessions, streams and API keys of this user end at once.`}
        />
      )}
    />
  )
}

/** The name of a service account leads to its trusts and keys. */
function UserName({ user: { id, kind, display_name, username } }: { user: User }) {
  const name = display_name ?? username
  if (kind === 'person') {
    return (
      <Named name={name}>
        <Code>{username}</Code>
      </Named>
    )
  }
  return (
    <Named
      name={
        <Anchor component={Link} to={`/users/${id}`} size="sm" fw={600}>
          {name}
        </Anchor>
      }
    >
      <Code>{username}</Code>{' '}
      <Badge size="xs" variant="default" tt="none">
        service account
      </Badge>
    </Named>
  )
}

function Email({ user: { email, email_verified } }: { user: User }) {
  if (email === null) return '–'
  return (
    <>
      {email}
      {!email_verified && (
        <Text size="xs" c="dimmed" span ml={6}>
          not verified
        </Text>
      )}
    </>
  )
}

function Status({ user: { status, break_glass } }: { user: User }) {
  return (
    <>
      <StateBadge state={status} />
      {break_glass && <Text size="xs">emergency account</Text>}
    </>
  )
}

function loginOf({ kind, identity }: User): string {
  if (kind === 'service') return 'Trusts and keys'
  return identity?.provider ?? 'Password'
}
