import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import type { Kind } from '../../components/source-kinds.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { duration, TimeAgo } from '../../components/time-ago.tsx'

const LIMIT = 50

/** The newest deployments of a source. */
export function SourceDeployments({ kind, id, name }: { kind: Kind; id: string; name: string }) {
  useLive('listDeployments')
  const filter = { [`${kind}_id`]: id }
  const deployments = useRead('listDeployments', { query: { ...filter, limit: LIMIT } }, { keep: true })
  return (
    <Loaded read={deployments}>
      {({ data, meta }) => {
        if (data.length === 0) {
          return <Empty title={`This ${kind} has not been deployed`}>Choose Deploy above to deploy it.</Empty>
        }
        return (
          <Stack gap="xs">
            <DataTable
              label={`Deployments of ${name}`}
              rows={data}
              columns={[
                {
                  head: 'State',
                  width: 110,
                  cell: ({ id: deployment, state }) => (
                    <Anchor component={Link} to={`/deployments/${deployment}`} underline="never">
                      <StateBadge state={state} />
                    </Anchor>
                  ),
                },
                { head: 'Version', width: 120, cell: (deployment) => deployment[`${kind}_version`] },
                { head: 'Environment', cell: ({ environment_name }) => environment_name ?? '–' },
                { head: 'Started by', cell: ({ triggered_by }) => triggered_by ?? '–' },
                {
                  head: 'Created',
                  width: 110,
                  cell: ({ id: deployment, created_at }) => (
                    <Anchor component={Link} size="sm" to={`/deployments/${deployment}`}>
                      <TimeAgo at={created_at} />
                    </Anchor>
                  ),
                },
                { head: 'Duration', width: 110, cell: ({ duration_ms }) => duration(duration_ms) },
              ]}
            />
            {meta.total > data.length && (
              <Text size="sm">
                Only the newest are here.{' '}
                <Anchor component={Link} to="/deployments" search={filter as never}>
                  Show all {meta.total.toLocaleString()}
                </Anchor>
              </Text>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}
