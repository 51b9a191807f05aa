import { Anchor, Stack, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
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
            <Table.ScrollContainer minWidth={500}>
              <Table aria-label={`Deployments of ${name}`}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>State</Table.Th>
                    <Table.Th>Version</Table.Th>
                    <Table.Th>Environment</Table.Th>
                    <Table.Th>Started by</Table.Th>
                    <Table.Th>Created</Table.Th>
                    <Table.Th>Duration</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((deployment) => (
                    <Table.Tr key={deployment.id}>
                      <Table.Td>
                        <Anchor component={Link} to={`/deployments/${deployment.id}`} underline="never">
                          <StateBadge state={deployment.state} />
                        </Anchor>
                      </Table.Td>
                      <Table.Td>{deployment[`${kind}_version`]}</Table.Td>
                      <Table.Td>{deployment.environment_name ?? '–'}</Table.Td>
                      <Table.Td>{deployment.triggered_by ?? '–'}</Table.Td>
                      <Table.Td>
                        <Anchor component={Link} size="sm" to={`/deployments/${deployment.id}`}>
                          <TimeAgo at={deployment.created_at} />
                        </Anchor>
                      </Table.Td>
                      <Table.Td>{duration(deployment.duration_ms)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
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
