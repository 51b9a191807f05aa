import { Anchor, List, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

type Freezes = NonNullable<Answer<'getOverview'>['freezes']>

/** The freezes that are in force, and the windows that begin next. */
export const FreezesNow = memo(({ freezes: { active, next } }: { freezes: Freezes }) => (
  <Section title="Freezes" more={{ label: 'Calendar', to: '/freezes' }}>
    {active.length === 0 && (
      <Text size="sm">{next.length === 0 ? 'None is in force, and none is planned.' : 'None is in force.'}</Text>
    )}
    <List size="sm">
      {active.map(({ id, name, until }) => (
        <List.Item key={id}>
          <Anchor component={Link} to="/freezes" size="sm" fw={600}>
            {name}
          </Anchor>{' '}
          is in force
          {until !== null && (
            <>
              {' and ends '}
              <TimeAgo at={until} />
            </>
          )}
        </List.Item>
      ))}
      {next.map(({ id, name, from }) => (
        <List.Item key={`${id} next`}>
          <Anchor component={Link} to="/freezes" size="sm">
            {name}
          </Anchor>{' '}
          begins <TimeAgo at={from} />
        </List.Item>
      ))}
    </List>
  </Section>
))
