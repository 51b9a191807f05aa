import { SimpleGrid, Stack } from '@mantine/core'
import { Page } from '../../components/page.tsx'
import { ChangePassword } from './change-password.tsx'
import { Identity } from './identity.tsx'
import { OwnApiKeys } from './own-api-keys.tsx'
import { Rights } from './rights.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

export function Account() {
  return (
    <Page title="Account" command="slipway whoami">
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack>
          <Identity />
          <Rights />
        </Stack>
        <Stack>
          <TwoFactor />
          <ChangePassword />
          <Sessions />
        </Stack>
      </SimpleGrid>
      <OwnApiKeys />
    </Page>
  )
}
