import { Group, Text } from '@mantine/core'
import { type Answer, isFinalState } from '@slipway/client'
import { duration, TimeAgo } from '../../components/time-ago.tsx'

type Deployment = Answer<'getDeployment'>

/** When the deployment was created, approved, started, cancelled and over, and by whom. */
export function Timeline({ deployment }: { deployment: Deployment }) {
  const { created_at, started_at, completed_at, triggered_by, cancelled_at, cancelled_by, cancel_reason } = deployment
  const events = [
    { name: `created by ${triggered_by ?? 'nobody known'}`, at: created_at },
    ...deployment.approved_by.map(({ user_name, comment, at }) => ({
      name: `approved by ${user_name}${comment ? ` (${comment})` : ''}`,
      at,
    })),
    { name: 'started', at: started_at },
    {
      name: `cancelled by ${cancelled_by ?? 'nobody known'}${cancel_reason ? ` (${cancel_reason})` : ''}`,
      at: cancelled_at,
    },
    { name: deployment.state.replaceAll('_', ' '), at: isFinalState(deployment.state) ? completed_at : null },
  ].filter(({ at }) => at !== null)
  return (
    <Group component="ol" gap="lg" p={0} m={0} style={{ listStyle: 'none' }}>
      {events.map(({ name, at }) => (
        <Text component="li" size="sm" key={name}>
          {name} <TimeAgo at={at} />
        </Text>
      ))}
      {deployment.duration_ms !== null && (
        <Text component="li" size="sm">
          took {duration(deployment.duration_ms)}
        </Text>
      )}
    </Group>
  )
}
