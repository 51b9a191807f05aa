import { Anchor, Group, Progress, Text } from '@mantine/core'
import { type Item, isFinalState } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { type Column, DataTable } from './data-table.tsx'
import { changeWords, startedBy } from './deployment-words.ts'
import { sourceName } from './source-name.ts'
import { STATE_COLOURS, StateBadge } from './state-badge.tsx'
import { duration, TimeAgo } from './time-ago.tsx'

type Deployment = Item<'listDeployments'>

export const DEPLOYMENT_COLUMNS: readonly Column<Deployment>[] = [
  {
    head: 'What',
    sort: 'source_name',
    copied: sourceName,
    cell: (deployment) => (
      <Anchor component={Link} to={`/deployments/${deployment.id}`} size="sm" fw={500}>
        {sourceName(deployment)}
      </Anchor>
    ),
  },
  { head: 'State', width: 112, cell: ({ state }) => <StateBadge state={state} /> },
  { head: 'Change', width: 190, cell: changeWords },
  {
    head: 'Environment',
    width: 132,
    cell: ({ tenant_name, environment_name }) => [tenant_name, environment_name].filter(Boolean).join(' / ') || '–',
  },
  { head: 'Steps', width: 148, cell: (deployment) => <Steps deployment={deployment} /> },
  { head: 'By', width: 88, cell: startedBy },
  { head: 'Created', sort: '-created_at', width: 104, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
  { head: 'Duration', width: 84, cell: (deployment) => duration(deployment.duration_ms ?? elapsed(deployment)) },
]

/** Deployments with their progress, the newest first. */
export function DeploymentTable({ deployments }: { deployments: readonly Deployment[] }) {
  return <DataTable rows={deployments} columns={DEPLOYMENT_COLUMNS} />
}

/** How long it has been running. Each row is drawn again when the list is read again. */
const elapsed = ({ started_at, completed_at }: Deployment) =>
  started_at === null || completed_at !== null ? null : Math.max(0, Date.now() - Date.parse(started_at))

type Counts = Pick<Deployment, 'completed_steps' | 'total_steps' | 'failed_steps' | 'state'>

/** "12 of 40", and how many failed; a bar while steps still run. */
export function Steps({ deployment }: { deployment: Counts }) {
  const { completed_steps, total_steps, failed_steps, state } = deployment
  const part = total_steps === 0 ? 0 : (100 * completed_steps) / total_steps
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" span>
        {completed_steps.toLocaleString()} of {total_steps.toLocaleString()}
        {failed_steps > 0 && `, ${failed_steps.toLocaleString()} failed`}
      </Text>
      {!isFinalState(state) && (
        <Progress
          value={part}
          size="sm"
          flex={1}
          miw={24}
          color={STATE_COLOURS[state] ?? 'gray.7'}
          aria-label={`${completed_steps} of ${total_steps} steps are complete`}
        />
      )}
    </Group>
  )
}
