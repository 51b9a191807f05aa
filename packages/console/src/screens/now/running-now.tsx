import { Text } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { DeploymentTable } from '../../components/deployment-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from './section.tsx'

const SHOWN = 20

/** The deployments that run or roll back. */
export function RunningNow() {
  const running = useRead('listDeployments', { query: { state: 'running', limit: SHOWN } })
  const rollingBack = useRead('listDeployments', { query: { state: 'rolling_back', limit: SHOWN } })
  const total = (running.data?.meta.total ?? 0) + (rollingBack.data?.meta.total ?? 0)
  return (
    <Section
      title="Running"
      note={total.toLocaleString()}
      {...(total > SHOWN ? { more: { label: 'All that run', to: '/deployments', search: { state: 'running' } } } : {})}
    >
      <Loaded read={running}>
        {({ data }) => {
          const active = [...(rollingBack.data?.data ?? []), ...data].slice(0, SHOWN)
          return active.length === 0 ? (
            <Text size="sm">No deployment runs.</Text>
          ) : (
            <DeploymentTable deployments={active} />
          )
        }}
      </Loaded>
    </Section>
  )
}
