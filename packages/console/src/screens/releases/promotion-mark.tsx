import { Button, Group, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useRight } from '../../session/use-right.ts'
import type { Candidate, Row } from './matrix-layout.ts'

interface Props {
  row: Row
  candidate: Candidate
  /** The environment that would get the version. */
  to: string
  /** Otherwise the server is asked when the pointer or the focus is on it. */
  isAskedAtOnce: boolean
}

/** Whether what is in force in the environment before may go on, and the way to promote it. */
export function PromotionMark({ row, candidate: { environment, cell }, to, isAskedAtOnce }: Props) {
  const [isWanted, setWanted] = useState(false)
  if (!isAskedAtOnce && !isWanted) {
    const ask = () => setWanted(true)
    return (
      <Button size="compact-xs" variant="default" mt={4} onMouseEnter={ask} onFocus={ask} onClick={ask}>
        From {environment.name}…
      </Button>
    )
  }
  // Another version or drift there is another question.
  return <Asked key={JSON.stringify(cell)} {...{ row, to, environment }} isDrifted={cell.drifted > 0} />
}

const MINUTE_MS = 60_000

interface AskedProps extends Pick<Props, 'row' | 'to'> {
  environment: Candidate['environment']
  isDrifted: boolean
}

function Asked({ row, to, environment, isDrifted }: AskedProps) {
  const { source_type, source_id } = row
  const source = { type: source_type, id: source_id }
  const right = useRight('deployments:create', { kind: 'deployment', environment_id: to, source })
  const query = { source_type, source_id, from_environment_id: environment.id, to_environment_id: to }
  const promotion = useRead('getPromotion', { query }, { everyMs: MINUTE_MS })
  const { data, error } = promotion
  if (error !== null) return <Text size="xs">{error.message}</Text>
  if (data === undefined) return <Text size="xs">From {environment.name}…</Text>
  const mayGoOn = data.deployment_id !== null && (data.blockers.length === 0 || data.ready_at !== null)
  return (
    <div>
      <Text size="xs" mt={4}>
        {data.version === null ? `From ${environment.name}` : `${data.version} from ${environment.name}`}
      </Text>
      <Group gap={4}>
        <Readiness promotion={data} isDrifted={isDrifted} />
        {mayGoOn && (
          <LinkButton
            may={right}
            to="/deploy"
            search={{
              kind: source_type,
              id: source_id,
              from_environment: environment.id,
              environment: to,
              as: 'last',
              step: 'preview',
              start_at: data.ready_at === null ? undefined : nextMinute(data.ready_at),
            }}
            size="compact-xs"
            variant="default"
          >
            Promote
          </LinkButton>
        )}
      </Group>
      {!mayGoOn &&
        data.blockers.map((sentence) => (
          <Text key={sentence} size="xs" c="dimmed">
            {withLocalTimes(sentence)}
          </Text>
        ))}
    </div>
  )
}

function Readiness({ promotion, isDrifted }: { promotion: Answer<'getPromotion'>; isDrifted: boolean }) {
  const { blockers, ready_at } = promotion
  if (blockers.length === 0) return <StateBadge state="success" label="ready" />
  if (ready_at !== null) return <StateBadge state="pending" label={<TimeAgo at={ready_at} />} />
  return isDrifted ? <StateBadge state="drifted" /> : <StateBadge state="pending" label="not ready" />
}

/** The form shows whole seconds. Cut off, the start would be a moment too early. */
const nextMinute = (time: string) => new Date(Math.ceil(Date.parse(time) / MINUTE_MS) * MINUTE_MS).toISOString()
