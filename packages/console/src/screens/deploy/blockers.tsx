import { Alert, Text } from '@mantine/core'
import { BlockerList } from '../../components/blocker-list.tsx'
import { type Blocker, refusingOf } from '../../components/refusing.ts'
import { exactTime, TimeAgo } from '../../components/time-ago.tsx'
import type { Previewed } from './previewed.ts'

/** What keeps the deployment from starting, until when, and when it starts at the earliest. */
export function Blockers({ previewed: { request, plan } }: { previewed: Previewed }) {
  const { blockers, earliest_start } = plan
  if (blockers.length === 0) return null
  const [refusing] = refusingOf(blockers, request, Date.now())
  return (
    <Alert color="orange" title={refusing === undefined ? 'It would wait' : refusalTitle(refusing)} role="status">
      <BlockerList blockers={blockers} />
      <Text size="sm">Earliest start: {earliest_start === null ? 'not known' : <TimeAgo at={earliest_start} />}</Text>
    </Alert>
  )
}

function refusalTitle({ code, until }: Blocker): string {
  const end = until === null ? '' : ` until ${exactTime(until)}`
  return code === 'freeze' ? `Frozen${end}` : `Not promoted${end}`
}
