import { Anchor } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import type { Column } from '../../components/data-table.tsx'
import { DeniedButton } from '../../components/denied-button.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { FirstTags } from '../../components/tags.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useRight } from '../../session/use-right.ts'

type Target = Item<'listTargets'>

export const COLUMNS: readonly Column<Target>[] = [
  { head: 'Name', sort: 'name', copied: ({ name }) => name, cell: (target) => <TargetName target={target} /> },
  { head: 'Status', sort: 'status', width: 164, cell: (target) => <TargetStatus target={target} /> },
  { head: 'Connection', width: 98, cell: ({ connection }) => connection.type },
  {
    head: 'Environment',
    sort: 'environment_name',
    width: 150,
    cell: ({ environment_id }) => <RecordName kind="environment" id={environment_id} />,
  },
  { head: 'Tags', width: 220, cell: ({ tags }) => <FirstTags tags={tags} /> },
  { head: 'Last seen', sort: '-last_seen_at', width: 100, cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} /> },
]

function TargetName({ target: { id, name, description } }: { target: Target }) {
  const link = (
    <Anchor component={Link} to={`/targets/${id}`} size="sm" fw={600}>
      {name}
    </Anchor>
  )
  return <Named name={link}>{description}</Named>
}

/** Whether the target is reached, and whether it takes part in deployments. */
export function TargetStatus({ target: { status, enabled } }: { target: Pick<Target, 'status' | 'enabled'> }) {
  return (
    <div className="data-table-line">
      <StateBadge state={status} />
      {!enabled && <StateBadge state="disabled" />}
    </div>
  )
}

export function DeployLink({ target }: { target: Target }) {
  const { environment_id, name } = target
  const right = useRight('deployments:create', { kind: 'deployment', environment_id })
  if (!right.allowed) {
    return (
      <DeniedButton size="compact-xs" variant="default" because={right.because} aria-label={`Deploy to it: ${name}`}>
        Deploy to it
      </DeniedButton>
    )
  }
  return (
    <Anchor
      component={Link}
      to="/deploy"
      search={{ targets: target.id } as never}
      size="sm"
      aria-label={`Deploy to it: ${name}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      Deploy to it
    </Anchor>
  )
}
