import { Anchor, List, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { sourceName } from '../../components/source-name.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

const DAY_MS = 86_400_000

/** The deployments that failed within a day, one line for each source. */
export function RecentFailures() {
  const failed = useRead('listDeployments', { query: { state: 'failed', limit: 100 } })
  return (
    <Section title="Failures of the last day">
      <Loaded read={failed}>
        {({ data }) => {
          const since = new Date(Date.now() - DAY_MS).toISOString()
          const bySource = Map.groupBy(
            data.filter(({ created_at }) => created_at > since),
            sourceName,
          )
          if (bySource.size === 0) return <Text size="sm">None.</Text>
          return (
            <List size="sm">
              {[...bySource].map(([name, deployments]) => (
                <List.Item key={name}>
                  {deployments.length} × {name}: <Newest deployments={deployments} />
                </List.Item>
              ))}
            </List>
          )
        }}
      </Loaded>
    </Section>
  )
}

function Newest({ deployments }: { deployments: Item<'listDeployments'>[] }) {
  const [newest] = deployments
  if (newest === undefined) return null
  return (
    <Anchor component={Link} to={`/deployments/${newest.id}?tab=failures`} size="sm">
      the newest, <TimeAgo at={newest.completed_at ?? newest.created_at} />
    </Anchor>
  )
}
