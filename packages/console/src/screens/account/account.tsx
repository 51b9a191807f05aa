import { Group, Stack, Text, Title } from '@mantine/core'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { ApiKeys } from './api-keys.tsx'
import { ChangePassword } from './change-password.tsx'
import { Identity } from './identity.tsx'
import { TwoFactor } from './two-factor.tsx'

export function Account() {
  const { logout } = useSession()
  return (
    <Page title="Account" command="slipway whoami">
      <Stack gap="xl">
        <Identity />
        <ApiKeys />
        <ChangePassword />
        <TwoFactor />
        <Stack gap="xs" component="section">
          <Title order={2} size="h4">
            Sessions
          </Title>
          <Text size="sm">
            Logging out ends every session of this account, here and on other devices, and its live streams. API keys
            stay valid.
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
        </Stack>
      </Stack>
    </Page>
  )
}
