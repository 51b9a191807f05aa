import { Anchor, Group } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/page.tsx'
import { RecordList } from '../../components/record-list.tsx'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { duration, TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'

type Release = Item<'listTargetReleases'>

const PAGE_SIZE = 20

/** What was deployed to the target, and what became of it there. */
export function TargetHistory({ id }: { id: string }) {
  const { page, toPage } = useAddress()
  useLive('listTargetReleases')
  const query = { page, limit: PAGE_SIZE }
  const releases = useRead('listTargetReleases', { params: { id }, query }, { keep: true })
  return (
    <Section
      title="History"
      action={
        <Anchor component={Link} to="/deployments" search={{ target_id: id } as never} size="sm">
          All deployments with it
        </Anchor>
      }
    >
      <RecordList
        read={releases}
        empty={<Empty title="No command of a deployment has started here yet" />}
        onPage={toPage}
      >
        {(data) => <HistoryTable releases={data} />}
      </RecordList>
    </Section>
  )
}

function HistoryTable({ releases }: { releases: readonly Release[] }) {
  return (
    <DataTable
      rows={releases.map((release) => ({ ...release, id: release.deployment_id }))}
      columns={[
        {
          head: 'What',
          cell: ({ deployment_id, source_name, version }) => (
            <Anchor component={Link} to={`/deployments/${deployment_id}`} size="sm" fw={500}>
              {source_name} {version}
            </Anchor>
          ),
        },
        {
          head: 'State here',
          cell: ({ state, is_current }) => (
            <Group gap={4}>
              <StateBadge state={state} />
              {is_current && <StateBadge state="active" label="in force" />}
            </Group>
          ),
        },
        { head: 'In force before', cell: (release) => <Before release={release} known={releases} /> },
        { head: 'By', width: 140, cell: ({ triggered_by }) => triggered_by ?? '–' },
        { head: 'Began', width: 112, cell: ({ begun_at }) => <TimeAgo at={begun_at} /> },
        {
          head: 'Duration',
          cell: ({ begun_at, ended_at }) =>
            duration(Date.parse(ended_at ?? new Date().toISOString()) - Date.parse(begun_at)),
        },
      ]}
    />
  )
}

/** The version that was in force before. It may be on another page of the history. */
function Before({ release, known }: { release: Release; known: readonly Release[] }) {
  const { replaced_deployment_id } = release
  if (replaced_deployment_id === null) return '–'
  return (
    <Anchor component={Link} to={`/deployments/${replaced_deployment_id}`} size="sm">
      {known.find(({ deployment_id }) => deployment_id === replaced_deployment_id)?.version ?? 'an earlier one'}
    </Anchor>
  )
}
