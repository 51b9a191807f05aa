import { Anchor, List, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { counted } from '../../components/counted.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

type Queue = Answer<'getOverview'>['queue']
type Reason = Queue['reasons'][number]

const WORDS: Record<Reason['waiting_for'], string> = {
  start_time: 'for their start time',
  approval: 'for approvals',
  window: 'for a window of their environment',
  promotion: 'until they may be promoted',
  freeze: 'for the end of a freeze',
  instance_pool: 'for an instance',
  no_compatible_instance: 'for an instance that fits',
  tenant_limit: 'because the tenant has as many running as it may',
  target_lock: 'for targets that other deployments hold',
  capacity: 'for a free slot',
}

const wordsOf = ({ waiting_for, pool_name }: Reason): string => {
  if (pool_name === null) return WORDS[waiting_for]
  return waiting_for === 'capacity'
    ? `for a free slot of an instance that matches ${pool_name}`
    : `for an instance that matches ${pool_name}`
}

const sourcesOf = ({ source_names, more_sources }: Reason): string =>
  `${source_names.join(', ')}${more_sources > 0 ? ` and ${more_sources.toLocaleString()} more` : ''}`

/** How many requests wait, for what, and what they deploy. */
export const QueueNow = memo(({ queue: { total, first_estimated_start, reasons } }: { queue: Queue }) => (
  <Section title="Queue" more={{ label: 'The whole queue', to: '/queue' }}>
    {total === 0 ? (
      <Text size="sm">Nothing waits.</Text>
    ) : (
      <>
        <Text size="sm">
          <Anchor component={Link} to="/queue" size="sm">
            {counted(total, 'request')} {total === 1 ? 'waits' : 'wait'}
          </Anchor>
          {first_estimated_start !== null && (
            <>
              {'. The first one starts about '}
              <TimeAgo at={first_estimated_start} />
            </>
          )}
        </Text>
        <List size="sm">
          {reasons.map((reason) => (
            <List.Item key={`${reason.waiting_for} ${reason.pool_name}`}>
              {reason.count.toLocaleString()} × {wordsOf(reason)}: {sourcesOf(reason)}
            </List.Item>
          ))}
        </List>
      </>
    )}
  </Section>
))
