import { Code } from '@mantine/core'
import { RecordName } from '../../components/record-select.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { type User, useSession } from '../../session/session.tsx'

/** Who is logged in. */
export function Identity() {
  const { user } = useSession()
  return (
    <Section title="Who you are">
      <Facts
        facts={[
          [
            'Name',
            <>
              {user.display_name ?? user.username} <Code>{user.username}</Code>
            </>,
          ],
          [
            'E-mail',
            user.email === null ? 'None' : `${user.email}, ${user.email_verified ? 'verified' : 'not verified'}`,
          ],
          ['Status', <StateBadge key="status" state={user.status} />],
          ['Tenant', <RecordName key="tenant" kind="tenant" id={user.tenant_id} none="None: you see all tenants" />],
          ['Logs in with', loginOf(user)],
          ['Created', <TimeAgo key="created" at={user.created_at} />],
        ]}
      />
    </Section>
  )
}

const loginOf = ({ identity }: User) =>
  identity === null ? 'Password' : `${identity.provider}, as ${identity.subject}`
