import { Button, SimpleGrid, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { Empty, Page } from '../../components/page.tsx'
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
  if (!can('deployments:read')) {
    return (
      <Page title="Now">
        <Empty title="You may not see deployments">
          An administrator can give you a role with the permission deployments:read. The menu has what you may see.
        </Empty>
      </Page>
    )
  }
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
