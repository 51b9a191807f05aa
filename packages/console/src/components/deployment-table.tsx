import { Anchor, Progress, Table, Text } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { sourceName } from './source-name.ts'
import { STATE_COLOURS, StateBadge } from './state-badge.tsx'
import { duration, TimeAgo } from './time-ago.tsx'

type Deployment = Item<'listDeployments'>

/** Deployments with their progress, the newest first. */
export function DeploymentTable({ deployments }: { deployments: readonly Deployment[] }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th w={220}>Steps</Table.Th>
            <Table.Th>Where</Table.Th>
            <Table.Th>By</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Duration</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deployments.map((deployment) => (
            <Table.Tr key={deployment.id}>
              <Table.Td>
                <Anchor component={Link} to={`/deployments/${deployment.id}`} size="sm" fw={500}>
                  {sourceName(deployment)}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <StateBadge state={deployment.state} />
              </Table.Td>
              <Table.Td>
                <Steps deployment={deployment} />
              </Table.Td>
              <Table.Td>
                {[deployment.tenant_name, deployment.environment_name].filter(Boolean).join(' / ') || '–'}
              </Table.Td>
              <Table.Td>{deployment.triggered_by ?? '–'}</Table.Td>
              <Table.Td>
                <TimeAgo at={deployment.created_at} />
              </Table.Td>
              <Table.Td>{duration(deployment.duration_ms ?? elapsed(deployment))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** How long it has been running. Each row is drawn again when the list is read again. */
const elapsed = ({ started_at, completed_at }: Deployment) =>
  started_at === null || completed_at !== null ? null : Math.max(0, Date.now() - Date.parse(started_at))

type Counts = Pick<Deployment, 'completed_steps' | 'total_steps' | 'failed_steps' | 'state'>

/** "12 of 40", a bar, and how many failed. */
export function Steps({ deployment }: { deployment: Counts }) {
  const { completed_steps, total_steps, failed_steps, state } = deployment
  const part = total_steps === 0 ? 0 : (100 * completed_steps) / total_steps
  return (
    <div>
      <Text size="xs" span>
        {completed_steps.toLocaleString()} of {total_steps.toLocaleString()}
        {failed_steps > 0 && `, ${failed_steps.toLocaleString()} failed`}
      </Text>
      <Progress
        value={part}
        size="sm"
        color={STATE_COLOURS[state] ?? 'gray.7'}
        aria-label={`${completed_steps} of ${total_steps} steps are complete`}
      />
    </div>
  )
}
