import { Anchor, Progress, Stack, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { counted } from '../../components/counted.ts'
import { Section } from './section.tsx'

type SlotsNow = NonNullable<Answer<'getOverview'>['slots']>

/** How many deployments each orchestration instance runs, of how many it may. */
export const Slots = memo(({ slots: { used, free, online, total, instances } }: { slots: SlotsNow }) => (
  <Section title="Slots" more={{ label: 'All instances', to: '/instances' }}>
    {total === 0 ? (
      <Text size="sm">
        No orchestration instance has joined, so deployments wait.{' '}
        <Anchor component={Link} to="/instances" size="sm">
          Create a join token
        </Anchor>
      </Text>
    ) : (
      <Stack gap="xs">
        <Text size="sm">
          {used} in use, {free} free; {online} of {counted(total, 'instance')} online
        </Text>
        {instances.map(({ id, name, capacity, active, status }) => (
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
        {total > instances.length && <Text size="xs">and {counted(total - instances.length, 'other')}</Text>}
      </Stack>
    )}
  </Section>
))
