import { Group, Progress, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { DataTable } from '../../components/data-table.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { InstanceActions } from './instance-actions.tsx'
import { Labels } from './labels.tsx'

type Instance = Item<'listInstances'>

export function InstanceTable({ instances }: { instances: Instance[] }) {
  return (
    <DataTable
      rows={instances}
      minWidth={960}
      columns={[
        { head: 'Name', cell: ({ name }) => <Named name={name} /> },
        { head: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Slots in use', cell: (instance) => <Slots instance={instance} /> },
        { head: 'Version', cell: ({ version }) => version },
        { head: 'Labels', cell: ({ labels }) => <Labels labels={labels} /> },
        { head: 'Tenant', cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
        { head: 'Last heartbeat', cell: ({ last_heartbeat_at }) => <TimeAgo at={last_heartbeat_at} /> },
      ]}
      actions={(instance) => <InstanceActions instance={instance} />}
    />
  )
}

function Slots({ instance: { active, capacity, name } }: { instance: Instance }) {
  const share = capacity === 0 ? 0 : Math.min(100, (active / capacity) * 100)
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress size="lg" w={100} value={share} aria-label={`Slots of ${name} in use`} />
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        {active} of {capacity}
      </Text>
    </Group>
  )
}
