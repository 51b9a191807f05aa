import { Anchor, Group, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { DataTable } from '../../components/data-table.tsx'
import { Named } from '../../components/named.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TargetLink } from '../../components/target-link.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { ReleaseCheck } from './release-check.tsx'
import { SourceLink } from './source-link.tsx'
import { variantsText } from './variants.ts'

type Installed = Item<'listReleases'>

interface Props {
  rows: readonly Installed[]
  /** What every row has in common, and the screen says already. */
  of?: 'target' | 'source'
}

/** What is in force on targets, and the last attempt where that is something else. */
export function InstalledTable({ rows, of }: Props) {
  const target = {
    head: 'Target',
    copied: ({ target_name }: Installed) => target_name,
    cell: ({ target_id, target_name }: Installed) => <TargetLink id={target_id} name={target_name} />,
  }
  const source = {
    head: 'Source',
    cell: ({ source_type, source_id, source_name }: Installed) => (
      <Named name={<SourceLink kind={source_type} id={source_id} name={source_name} />}>{source_type}</Named>
    ),
  }
  const check = {
    head: 'Check',
    wraps: true,
    cell: ({ check }: Installed) => check && <ReleaseCheck check={check} />,
  }
  return (
    <DataTable
      rows={rows.map((row) => ({ ...row, id: `${row.target_id} ${row.source_id}` }))}
      columns={[
        ...(of === 'target' ? [] : [target]),
        ...(of === 'source' ? [] : [source]),
        { head: 'Version', width: 140, cell: (row) => <InForce installed={row} /> },
        {
          head: 'Environment',
          cell: ({ tenant_name, environment_name }) =>
            [tenant_name, environment_name].filter(Boolean).join(' / ') || '–',
        },
        { head: 'Applied', cell: (row) => <Applied installed={row} /> },
        ...(rows.some(({ check }) => check !== null) ? [check] : []),
        {
          head: 'Last attempt',
          wraps: true,
          cell: ({ last_attempt }) => last_attempt && <LastAttempt attempt={last_attempt} />,
        },
      ]}
    />
  )
}

function InForce({ installed: { version, variants, variant } }: { installed: Installed }) {
  if (version === null) return 'none in force'
  return <b title={variants > 1 ? `Variant ${variant}` : undefined}>{variantsText(version, variants)}</b>
}

function Applied({ installed: { deployment_id, applied_at, applied_by } }: { installed: Installed }) {
  if (deployment_id === null) return '–'
  return (
    <>
      <Anchor component={Link} to={`/deployments/${deployment_id}`} size="sm">
        <TimeAgo at={applied_at} />
      </Anchor>
      {applied_by !== null && ` by ${applied_by}`}
    </>
  )
}

function LastAttempt({ attempt }: { attempt: NonNullable<Installed['last_attempt']> }) {
  const { deployment_id, version, state, triggered_by, begun_at } = attempt
  return (
    <Group gap={6}>
      <StateBadge state={state} />
      <Anchor component={Link} to={`/deployments/${deployment_id}`} size="sm">
        {version}
      </Anchor>
      <Text span size="sm">
        <TimeAgo at={begun_at} />
        {triggered_by !== null && ` by ${triggered_by}`}
      </Text>
    </Group>
  )
}
