import { Anchor, List, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from './section.tsx'

/** How many requests wait, and for what. */
export function QueueNow() {
  useLive('listPending')
  const pending = useRead('listPending', { query: { status: 'pending' } })
  return (
    <Section title="Queue">
      <Loaded read={pending}>
        {(waiting) => {
          const reasons = new Map<string, number>()
          for (const { waiting_for, waiting_reason } of waiting) {
            const reason = waiting_reason ?? waiting_for ?? 'its turn'
            reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
          }
          return waiting.length === 0 ? (
            <Text size="sm">Nothing waits.</Text>
          ) : (
            <>
              <Anchor component={Link} to="/queue" size="sm">
                {waiting.length === 1 ? '1 request waits' : `${waiting.length} requests wait`}
              </Anchor>
              <List size="sm">
                {[...reasons].map(([reason, count]) => (
                  <List.Item key={reason}>
                    {count} × {reason}
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
