import { Anchor, Progress, Stack, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from './section.tsx'

const MOST_SHOWN = 8

/** How many deployments each orchestration instance runs, of how many it may. */
export function Slots() {
  useLive('listInstances')
  const instances = useRead('listInstances', { query: { limit: 100 } })
  return (
    <Section title="Slots" more={{ label: 'All instances', to: '/instances' }}>
      <Loaded read={instances}>
        {({ data }) => {
          if (data.length === 0) {
            return (
              <Text size="sm">
                No orchestration instance has joined, so deployments wait.{' '}
                <Anchor component={Link} to="/instances" size="sm">
                  Create a join token
                </Anchor>
              </Text>
            )
          }
          return (
            <Stack gap="xs">
              <Text size="sm">{summary(data)}</Text>
              {data.slice(0, MOST_SHOWN).map(({ id, name, capacity, active, status }) => (
                <div key={id}>
                  <Text size="xs">
                    {name}: {active} of {capacity} in use, {status}
                  </Text>
                  <Progress
                    value={capacity === 0 ? 0 : (100 * active) / capacity}
                    color={status === 'online' ? 'blue.8' : 'gray.7'}
                    aria-label={`${active} of ${capacity} slots of ${name} are in use`}
                  />
                </div>
              ))}
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}

/** Instances that are offline or draining have no free slots. */
function summary(instances: readonly Item<'listInstances'>[]): string {
  const online = instances.filter(({ status }) => status === 'online')
  const used = instances.reduce((sum, { active }) => sum + active, 0)
  const free = online.reduce((sum, { capacity, active }) => sum + Math.max(0, capacity - active), 0)
  return `${used} in use, ${free} free, on ${online.length} of ${instances.length} instances that are online`
}
