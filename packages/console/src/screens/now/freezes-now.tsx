import { Anchor, List, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Section } from './section.tsx'

/** The freezes that are in force, and those that begin next. */
export function FreezesNow() {
  useLive('listFreezes')
  const freezes = useRead('listFreezes', { query: { limit: 100 } }, { everyMs: 60_000 })
  return (
    <Section title="Freezes">
      <Loaded read={freezes}>
        {({ data }) => {
          const inForce = data.filter(({ active }) => active)
          const now = new Date().toISOString()
          const next = data.filter(({ active, start_time }) => !active && start_time > now).slice(0, 3)
          return (
            <>
              {inForce.length === 0 && <Text size="sm">None is in force.</Text>}
              <List size="sm">
                {inForce.map((freeze) => (
                  <List.Item key={freeze.id}>
                    <b>{freeze.name}</b> is in force
                  </List.Item>
                ))}
                {next.map((freeze) => (
                  <List.Item key={freeze.id}>
                    {freeze.name} begins <TimeAgo at={freeze.start_time} />
                  </List.Item>
                ))}
              </List>
              <Anchor component={Link} to="/freezes" size="sm">
                All freezes
              </Anchor>
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
