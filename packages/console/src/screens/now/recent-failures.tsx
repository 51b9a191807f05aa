import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Loaded } from '../../components/loaded.tsx'
import { sourceName } from '../../components/source-name.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { endOf, type FailureGroup, useFailureCauses } from './failure-causes.ts'
import { Section } from './section.tsx'

const MOST_LINKS = 5

/** The deployments that failed within a day, by cause. */
export function RecentFailures() {
  const { read, total } = useFailureCauses()
  return (
    <Section
      title="Failures of the last day"
      note={total === 0 ? undefined : total.toLocaleString()}
      more={{ label: 'All that failed', to: '/deployments', search: { state: 'failed' } }}
    >
      <Loaded read={read}>
        {(groups) =>
          groups.length === 0 ? (
            <Text size="sm">None.</Text>
          ) : (
            <Stack gap="xs">
              {groups.map((group) => (
                <CauseEntry key={group.key} group={group} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}

function CauseEntry({ group: { summary, deployments } }: { group: FailureGroup }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {deployments.length.toLocaleString()} × {summary}
      </Text>
      {deployments.slice(0, MOST_LINKS).map((deployment) => (
        <Text key={deployment.id} size="sm">
          <Anchor component={Link} to={`/deployments/${deployment.id}`} search={{ tab: 'failures' } as never} size="sm">
            {sourceName(deployment)}
          </Anchor>{' '}
          {deployment.environment_name !== null && `in ${deployment.environment_name}, `}
          <TimeAgo at={endOf(deployment)} />
        </Text>
      ))}
      {deployments.length > MOST_LINKS && (
        <Text size="sm">and {(deployments.length - MOST_LINKS).toLocaleString()} more</Text>
      )}
    </div>
  )
}
