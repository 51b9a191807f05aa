import { Progress, Stack, Text } from '@mantine/core'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { Section } from './section.tsx'

/** How many deployments each orchestration instance runs, of how many it may. */
export function Slots() {
  useLive('listInstances')
  const instances = useRead('listInstances', {}, { everyMs: 15_000 })
  return (
    <Section title="Slots">
      <Loaded read={instances}>
        {(all) => {
          const list = all.data
          if (list.length === 0) {
            return <Empty title="No orchestration instance has joined">Deployments wait until one does.</Empty>
          }
          return (
            <Stack gap="xs">
              {list.map(({ id, name, capacity, active, status }) => (
                <div key={id}>
                  <Text size="sm">
                    {name}: {active} of {capacity} in use, {status}
                  </Text>
                  <Progress
                    value={capacity === 0 ? 0 : (100 * active) / capacity}
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
