import { Alert, List, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { TimeAgo } from '../../components/time-ago.tsx'

type Preview = Answer<'previewDeployment'>

const REASONS: Record<Preview['blockers'][number]['code'], string> = {
  freeze: 'A freeze',
  instance_pool: 'No instance with the labels that it needs',
  no_compatible_instance: 'No instance that takes runs',
  tenant_limit: 'The limit of the tenant',
  target_lock: 'Targets that are in use',
  capacity: 'No free slot',
}

/** What keeps the deployment from starting now, and until when. The warnings say it in sentences. */
export function Blockers({ plan: { blockers, earliest_start } }: { plan: Preview }) {
  if (blockers.length === 0) return null
  return (
    <Alert color="orange" title="It would not start now" role="status">
      <List size="sm">
        {blockers.map(({ code, until, can_override }) => (
          <List.Item key={code}>
            {REASONS[code]},{' '}
            {until === null ? (
              'with no known end'
            ) : (
              <>
                until <TimeAgo at={until} />
              </>
            )}
            {can_override && ' (you may override it)'}
          </List.Item>
        ))}
      </List>
      <Text size="sm">Earliest start: {earliest_start === null ? 'not known' : <TimeAgo at={earliest_start} />}</Text>
    </Alert>
  )
}
