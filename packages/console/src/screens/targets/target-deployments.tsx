import type { Item } from '@slipway/client'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Section } from '../../components/section.tsx'
import { useAddress } from '../../components/use-address.ts'

const PAGE_SIZE = 20

/** The deployments that included the target. */
export function TargetDeployments({ id }: { id: string }) {
  const { page, toPage } = useAddress()
  useLive('listTargetDeployments')
  const query = { page, limit: PAGE_SIZE }
  const deployments = useRead('listTargetDeployments', { params: { id }, query }, { keep: true })
  return (
    <Section title="Deployments">
      <Loaded read={deployments}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title="No deployment has included this target yet">Deploy to it with the button above.</Empty>
          ) : (
            <>
              <DeploymentTable deployments={data.map(withStepsOfTarget)} stepsTitle="Steps on this target" />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

const withStepsOfTarget = ({
  target_steps: { total, completed, failed },
  ...deployment
}: Item<'listTargetDeployments'>) => ({
  ...deployment,
  total_steps: total,
  completed_steps: completed,
  failed_steps: failed,
})
