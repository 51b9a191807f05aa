import { Anchor, List, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { nextWindow, presentWindow } from '../freezes/windows.ts'
import { Section } from './section.tsx'

const NEXT_SHOWN = 3

const textOf = (moment: number) => new Date(moment).toISOString()

/** The freezes that are in force, and the windows that begin next. */
export function FreezesNow() {
  useLive('listFreezes')
  const freezes = useRead('listFreezes', { query: { limit: 100 } })
  const now = freezes.dataUpdatedAt
  return (
    <Section title="Freezes" more={{ label: 'Calendar', to: '/freezes' }}>
      <Loaded read={freezes}>
        {({ data }) => {
          const inForce = data
            .filter(({ active }) => active)
            .map((freeze) => ({ ...freeze, until: presentWindow(freeze, now)?.end }))
          const next = data
            .flatMap((freeze) => {
              const window = nextWindow(freeze, now)
              return window ? [{ ...freeze, from: window.start }] : []
            })
            .sort((a, b) => a.from - b.from)
            .slice(0, NEXT_SHOWN)
          if (inForce.length + next.length === 0) return <Text size="sm">None is in force, and none is planned.</Text>
          return (
            <>
              {inForce.length === 0 && <Text size="sm">None is in force.</Text>}
              <List size="sm">
                {inForce.map(({ id, name, until }) => (
                  <List.Item key={id}>
                    <Anchor component={Link} to="/freezes" size="sm" fw={600}>
                      {name}
                    </Anchor>{' '}
                    is in force
                    {until !== undefined && (
                      <>
                        {' and ends '}
                        <TimeAgo at={textOf(until)} />
                      </>
                    )}
                  </List.Item>
                ))}
                {next.map(({ id, name, from }) => (
                  <List.Item key={`${id} next`}>
                    <Anchor component={Link} to="/freezes" size="sm">
                      {name}
                    </Anchor>{' '}
                    begins <TimeAgo at={textOf(from)} />
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
