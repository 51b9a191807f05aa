import { Button, SimpleGrid, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { FreezesNow } from './freezes-now.tsx'
import { LatestDeployments } from './latest-deployments.tsx'
import { QueueNow } from './queue-now.tsx'
import { RecentFailures } from './recent-failures.tsx'
import { RunningNow } from './running-now.tsx'
import { Slots } from './slots.tsx'

/** What an engineer on call wants to know first: what waits and why, what holds it, what runs, and what failed. */
export function Now() {
  const { can } = useSession()
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
      <Overview />
    </Page>
  )
}

/** An answer keeps the objects of the one before that have not changed, and so each part that shows them. */
function Overview() {
  useLive('getOverview')
  const overview = useRead('getOverview', {})
  return (
    <Loaded read={overview}>
      {({ counts, running, ended, failures, queue, slots, freezes }) => (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, md: freezes === null ? 1 : 2 }}>
            <QueueNow queue={queue} />
            {freezes !== null && <FreezesNow freezes={freezes} />}
          </SimpleGrid>
          <RunningNow running={running} total={counts.running} />
          <SimpleGrid cols={{ base: 1, md: slots === null ? 1 : 2 }}>
            <RecentFailures failures={failures} />
            {slots !== null && <Slots slots={slots} />}
          </SimpleGrid>
          <LatestDeployments ended={ended} />
        </Stack>
      )}
    </Loaded>
  )
}
