import { Badge, Group, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Named } from '../../components/named.tsx'
import { DeleteButton } from '../../components/row-buttons.tsx'
import { Section } from '../../components/section.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

type Login = Answer<'listSessions'>['sessions'][number]

export function Sessions() {
  const { logout } = useSession()
  const sessions = useRead('listSessions', {})
  return (
    <Section title="Sessions">
      <Loaded read={sessions}>{(answer) => <SessionTable sessions={answer.sessions} />}</Loaded>
      <Text size="sm">Logging out ends all of them, with their live streams. API keys stay valid.</Text>
      <Group>
        <ConfirmButton
          variant="default"
          size="xs"
          label="Log out everywhere"
          question="Every session of this account ends, here and on other devices."
          onConfirm={logout}
        />
      </Group>
    </Section>
  )
}

function SessionTable({ sessions }: { sessions: readonly Login[] }) {
  return (
    <DataTable
      rows={sessions}
      columns={[
        {
          head: 'With',

          cell: ({ user_agent, is_current }) => (
            <Named name={user_agent ?? 'Unknown'}>{is_current && <Badge size="xs">This session</Badge>}</Named>
          ),
        },
        { head: 'From', width: 120, cell: ({ client_ip }) => client_ip ?? 'Unknown' },
        {
          head: 'Last renewed',
          width: 112,
          cell: ({ last_used_at }) => (last_used_at === null ? 'Unknown' : <TimeAgo at={last_used_at} />),
        },
        { head: 'Began', width: 112, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
        { head: 'Expires', width: 112, cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
      ]}
      actions={(session) => !session.is_current && <End session={session} />}
    />
  )
}

function End({ session: { id, user_agent, client_ip } }: { session: Login }) {
  const end = useWrite('deleteSession', 'listSessions')
  const name = `${user_agent ?? 'unknown client'} from ${client_ip ?? 'unknown address'}`
  return (
    <DeleteButton
      label="End"
      name={name}
      question={`The session of ${name} ends at once.`}
      onConfirm={() => end.mutateAsync({ params: { id } })}
    />
  )
}
