import { Text } from '@mantine/core'
import { isFinalState } from '@slipway/client'
import { useRead } from '../../api/queries.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from './section.tsx'

const READ = 20
const SHOWN = 6

/** The newest deployments that have ended. */
export function LatestDeployments() {
  const latest = useRead('listDeployments', { query: { limit: READ } })
  return (
    <Section title="Ended last" more={{ label: 'All deployments', to: '/deployments' }}>
      <Loaded read={latest}>
        {({ data }) => {
          const ended = data.filter(({ state }) => isFinalState(state)).slice(0, SHOWN)
          return ended.length === 0 ? (
            <Text size="sm">Nothing has ended yet.</Text>
          ) : (
            <DeploymentTable deployments={ended} />
          )
        }}
      </Loaded>
    </Section>
  )
}
