import { Anchor, Stack, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { QuotedText } from '../../components/quoted-text.tsx'
import { sourceName } from '../../components/source-name.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

type Failures = Answer<'getOverview'>['failures']
type Group = Failures['groups'][number]

/** The deployments that failed within a day, by cause. */
export const RecentFailures = memo(({ failures: { total, groups } }: { failures: Failures }) => {
  const more = total - groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <Section
      title="Failures of the last day"
      note={total === 0 ? undefined : total.toLocaleString()}
      more={{ label: 'All that failed', to: '/deployments', search: { state: 'failed' } }}
    >
      {total === 0 ? (
        <Text size="sm">None.</Text>
      ) : (
        <Stack gap="xs">
          {groups.map((group) => (
            <CauseEntry key={group.fingerprint ?? group.summary} group={group} />
          ))}
          {more > 0 && <Text size="sm">and {more.toLocaleString()} with other causes</Text>}
        </Stack>
      )}
    </Section>
  )
})

function CauseEntry({ group: { summary, count, deployments } }: { group: Group }) {
  const more = count - deployments.length
  return (
    <div>
      <Text size="sm" fw={600}>
        {count.toLocaleString()} × <QuotedText text={summary} />
      </Text>
      {deployments.map((deployment) => (
        <Text key={deployment.id} size="sm">
          <Anchor component={Link} to={`/deployments/${deployment.id}`} search={{ tab: 'failures' } as never} size="sm">
            {sourceName(deployment)}
          </Anchor>{' '}
          {deployment.environment_name !== null && `in ${deployment.environment_name}, `}
          <TimeAgo at={deployment.completed_at ?? deployment.created_at} />
        </Text>
      ))}
      {more > 0 && <Text size="sm">and {more.toLocaleString()} more</Text>}
    </div>
  )
}
