import { Group, Text } from '@mantine/core'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Section } from '../../components/section.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'

/** The API does not list sessions; it ends all of them at once. */
export function Sessions() {
  const { user, logout } = useSession()
  return (
    <Section title="Sessions">
      <Text size="sm" component="div">
        Last login: <TimeAgo at={user.last_login_at} />. Logging out ends every session of this account, here and on
        other devices, and its live streams. API keys stay valid.
      </Text>
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
