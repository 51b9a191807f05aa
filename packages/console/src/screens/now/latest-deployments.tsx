import { Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { memo } from 'react'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Section } from './section.tsx'

/** The newest deployments that have ended. */
export const LatestDeployments = memo(({ ended }: Pick<Answer<'getOverview'>, 'ended'>) => (
  <Section title="Ended last" more={{ label: 'All deployments', to: '/deployments' }}>
    {ended.length === 0 ? <Text size="sm">Nothing has ended yet.</Text> : <DeploymentTable deployments={ended} />}
  </Section>
))
