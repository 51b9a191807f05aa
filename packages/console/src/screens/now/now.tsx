import { Button, SimpleGrid, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { FirstSteps } from './first-steps.tsx'
import { FreezesNow } from './freezes-now.tsx'
import { QueueNow } from './queue-now.tsx'
import { RecentFailures } from './recent-failures.tsx'
import { Section } from './section.tsx'
import { Slots } from './slots.tsx'

const SHOWN = 20

/** What an engineer on call wants to know first: what runs, what waits and why, what holds it, and what failed. */
export function Now() {
  const { can } = useSession()
  useLive('listDeployments')
  const running = useRead('listDeployments', { query: { state: 'running', limit: SHOWN } }, { everyMs: 5_000 })
  const rollingBack = useRead('listDeployments', { query: { state: 'rolling_back', limit: SHOWN } }, { everyMs: 5_000 })
  const any = useRead('listDeployments', { query: { limit: 1 } })
  return (
    <Page
      title="Now"
      command="slipway list --state running"
      actions={
        can('deployments:create') && (
          <Button component={Link} to="/deploy" size="xs">
            Deploy
          </Button>
        )
      }
    >
      {any.data?.meta.total === 0 && <FirstSteps />}
      <Stack gap="lg">
        <Section title="Running">
          <Loaded read={running}>
            {({ data }) => {
              const active = [...(rollingBack.data?.data ?? []), ...data]
              return active.length === 0 ? (
                <Empty title="No deployment runs" />
              ) : (
                <DeploymentTable deployments={active} />
              )
            }}
          </Loaded>
        </Section>
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <QueueNow />
          {can('instances:read') && <Slots />}
          {can('freezes:read') && <FreezesNow />}
          <RecentFailures />
        </SimpleGrid>
      </Stack>
    </Page>
  )
}
