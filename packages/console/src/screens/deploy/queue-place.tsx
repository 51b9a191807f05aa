import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'

/** Where in the queue a request with this priority would stand now. The warnings say whether it would be queued at all. */
export function QueuePlace({ priority }: { priority: number }) {
  const { can } = useSession()
  useLive('listPending')
  const pending = useRead('listPending', { query: { status: 'pending' } }, { enabled: can('deployments:read') })
  if (pending.data === undefined) return null
  const before = pending.data.filter((request) => request.priority >= priority).length
  if (before === 0) return <Text size="sm">No request in the queue comes before it.</Text>
  return (
    <Text size="sm">
      {before === 1 ? '1 request' : `${before.toLocaleString()} requests`} in the{' '}
      <Anchor component={Link} to="/queue" size="sm">
        queue
      </Anchor>{' '}
      would come before it: its place would be about {(before + 1).toLocaleString()}.
    </Text>
  )
}
