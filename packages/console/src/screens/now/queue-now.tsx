import { Anchor, List, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { requestSourceName } from '../../components/source-name.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

/** Without the place in the queue, which is in the sentence of the API. */
const REASONS: Partial<Record<string, string>> = {
  start_time: 'for their start time',
  approval: 'for approvals',
  window: 'for a window of their environment',
  promotion: 'until they may be promoted',
  capacity: 'for a free slot',
  no_compatible_instance: 'for an instance that fits',
  target_lock: 'for targets that other deployments hold',
  tenant_limit: 'because the tenant has as many running as it may',
}

function reasonOf({ waiting_for, waiting_reason, instance_pool: pool }: Answer<'listPending'>[number]): string {
  if (pool !== undefined && waiting_for === 'instance_pool') return `for an instance that matches ${pool.name}`
  if (pool !== undefined && waiting_for === 'capacity')
    return `for a free slot of an instance that matches ${pool.name}`
  return REASONS[waiting_for ?? ''] ?? withLocalTimes(waiting_reason ?? 'for their turn')
}

const SOURCES_SHOWN = 3

/** What the first requests deploy, each source once. */
function sourcesOf(requests: Answer<'listPending'>): string {
  const names = [...new Set(requests.map(requestSourceName))]
  const more = names.length - SOURCES_SHOWN
  if (names.length === 0) return ''
  return `: ${names.slice(0, SOURCES_SHOWN).join(', ')}${more > 0 ? ` and ${more.toLocaleString()} more` : ''}`
}

/** How many requests wait, for what, and what they deploy. */
export function QueueNow() {
  useLive('listPending')
  const pending = useRead('listPending', { query: { status: 'pending' } })
  return (
    <Section title="Queue" more={{ label: 'The whole queue', to: '/queue' }}>
      <Loaded read={pending}>
        {(waiting) => {
          const reasons = Map.groupBy(waiting, reasonOf)
          const [first] = waiting
          if (first === undefined) return <Text size="sm">Nothing waits.</Text>
          return (
            <>
              <Text size="sm">
                <Anchor component={Link} to="/queue" size="sm">
                  {waiting.length === 1 ? '1 request waits' : `${waiting.length.toLocaleString()} requests wait`}
                </Anchor>
                {first.estimated_start !== undefined && (
                  <>
                    {'. The first one starts about '}
                    <TimeAgo at={first.estimated_start} />
                  </>
                )}
              </Text>
              <List size="sm">
                {[...reasons].map(([reason, requests]) => (
                  <List.Item key={reason}>
                    {requests.length.toLocaleString()} × {reason}
                    {sourcesOf(requests)}
                  </List.Item>
                ))}
              </List>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
