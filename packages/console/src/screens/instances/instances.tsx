import { Group, Progress, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { InstanceActions } from './instance-actions.tsx'
import { JoinTokens } from './join-tokens.tsx'
import { Labels } from './labels.tsx'

const SORTED = ['name', 'created_at'] as const

export function Instances() {
  const { search, listQuery } = useAddress()
  useLive('listInstances')
  const instances = useRead(
    'listInstances',
    { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } },
    { keep: true },
  )
  return (
    <ListScreen
      title="Instances"
      command="slipway instances list"
      record="instance"
      purpose="An orchestration instance runs the commands of deployments. Create a join token below, then start an instance with it."
      read={instances}
      below={<JoinTokens />}
      columns={[
        { head: 'Name', sort: 'name', copied: ({ name }) => name, cell: ({ name }) => <Named name={name} /> },
        { head: 'Status', width: 90, cell: ({ status }) => <StateBadge state={status} /> },
        { head: 'Slots in use', width: 170, cell: (instance) => <Slots instance={instance} /> },
        { head: 'Version', width: 90, cell: ({ version }) => version },
        { head: 'Labels', wraps: true, cell: ({ labels }) => <Labels labels={labels} /> },
        { head: 'Tenant', width: 110, cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} none="all" /> },
        { head: 'Last heartbeat', width: 120, cell: ({ last_heartbeat_at }) => <TimeAgo at={last_heartbeat_at} /> },
      ]}
      actions={(instance) => <InstanceActions instance={instance} />}
    />
  )
}

function Slots({ instance: { active, capacity, name } }: { instance: Item<'listInstances'> }) {
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
