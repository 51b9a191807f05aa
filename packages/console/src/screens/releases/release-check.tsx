import { Group, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'

type Check = NonNullable<Item<'listReleases'>['check']>

/** What the last check of a release found, and what it wrote where the target is not in sync. */
export function ReleaseCheck({ check }: { check: Check }) {
  const { result, checked_at, drifted_since, message, is_pending } = check
  return (
    <>
      <Group gap={6}>
        {drifted_since !== null && <StateBadge state="drifted" />}
        {result === 'in_sync' && <StateBadge state="in_sync" />}
        {result === 'unknown' && <StateBadge state="unknown" label="check not done" />}
        <Text span size="sm">
          {drifted_since !== null && (
            <>
              <TimeAgo at={drifted_since} />,{' '}
            </>
          )}
          {checked_at === null ? (
            'not checked yet'
          ) : (
            <>
              checked <TimeAgo at={checked_at} />
            </>
          )}
          {is_pending && ', checking now'}
        </Text>
      </Group>
      {message !== null && (
        <Text size="xs" lineClamp={3} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} title={message}>
          {message}
        </Text>
      )}
    </>
  )
}
