import { Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { memo } from 'react'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Section } from './section.tsx'

interface Props extends Pick<Answer<'getOverview'>, 'running'> {
  total: number
}

/** The deployments that run or roll back. */
export const RunningNow = memo(({ running, total }: Props) => (
  <Section
    title="Running"
    note={total.toLocaleString()}
    {...(total > running.length
      ? { more: { label: 'All that run', to: '/deployments', search: { state: 'running' } } }
      : {})}
  >
    {running.length === 0 ? <Text size="sm">No deployment runs.</Text> : <DeploymentTable deployments={running} />}
  </Section>
))
