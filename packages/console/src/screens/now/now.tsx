import { Button, SimpleGrid, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { FreezesNow } from './freezes-now.tsx'
import { LatestDeployments } from './latest-deployments.tsx'
import { QueueNow } from './queue-now.tsx'
import { RecentFailures } from './recent-failures.tsx'
import { RunningNow } from './running-now.tsx'
import { Slots } from './slots.tsx'

/** What an engineer on call wants to know first: what runs, what waits and why, what holds it, and what failed. */
export function Now() {
  const { can } = useSession()
  useLive('listDeployments')
  return (
    <Page
      title="Now"
      command="slipway status"
      actions={
        can('deployments:create') && (
          <Button component={Link} to="/deploy" size="xs">
            Deploy
          </Button>
        )
      }
    >
      <Stack gap="md">
        <RunningNow />
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <RecentFailures />
          <QueueNow />
          {can('instances:read') && <Slots />}
          {can('freezes:read') && <FreezesNow />}
        </SimpleGrid>
        <LatestDeployments />
      </Stack>
    </Page>
  )
}
