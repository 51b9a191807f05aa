import { Alert, Anchor, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import { BlockerList } from '../../components/blocker-list.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { requestSourceName } from '../../components/source-name.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { PlanSteps } from '../deploy/plan-steps.tsx'
import { ResolvedVariables } from '../deploy/resolved-variables.tsx'
import { CancelRequest } from '../queue/cancel-request.tsx'
import { Replacements } from '../releases/replacements.tsx'
import { SourceLink } from '../releases/source-link.tsx'
import { Approvals } from './approvals.tsx'
import { Decision } from './decision.tsx'

type Record = Answer<'getPending'>

/** A plan may be large, so it is read less often than the queue. */
const EVERY_MS = 5_000

/** A request in the queue: why it waits, what would run, what that would replace, and who must approve it. */
export function Request() {
  const { id = '' } = useParams({ strict: false })
  const request = useRead('getPending', { params: { id } }, { everyMs: EVERY_MS, isLarge: true })
  const { data } = request
  const isWaiting = data?.status === 'pending'
  return (
    <Page
      title={data ? `Request: ${requestSourceName(data)}` : 'Request'}
      command={`slipway ${data?.approvals === undefined ? 'pending show' : 'approve'} ${id}`}
      actions={isWaiting && <CancelRequest request={data} size="xs" />}
    >
      <Loaded read={request}>{(known) => <Shown request={known} />}</Loaded>
    </Page>
  )
}

function Shown({ request }: { request: Record }) {
  const { status, approvals, blockers = [], plan, replaces = [], source_version } = request
  return (
    <>
      <Ended request={request} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Request">
          <Facts facts={factsOf(request)} />
        </Section>
        {approvals !== undefined && <Approvals approvals={approvals} />}
      </SimpleGrid>
      {blockers.length > 0 && (
        <Alert color="orange" title="Why it waits" role="status">
          <BlockerList blockers={blockers} />
        </Alert>
      )}
      {status === 'pending' && <Decision request={request} />}
      {replaces.length > 0 && (
        <Part title="What it replaces now">
          <Replacements replaces={replaces} version={source_version} />
        </Part>
      )}
      {plan !== undefined && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          <Part title="Steps by target">
            <PlanSteps steps={plan.steps} targetCount={plan.target_count} />
          </Part>
          <Part title="Variables">
            <ResolvedVariables variables={plan.resolved_variables} />
          </Part>
        </SimpleGrid>
      )}
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  )
}

/** What became of a request that has left the queue. */
function Ended({ request: { deployment_id, error_message, status } }: { request: Record }) {
  if (deployment_id !== undefined) {
    return (
      <Alert color="blue" title="It has started" role="status">
        <Anchor component={Link} to={`/deployments/${deployment_id}`} size="sm">
          Show its deployment
        </Anchor>
      </Alert>
    )
  }
  if (error_message === undefined || status === 'pending') return null
  return (
    <Alert color="orange" title="It does not start" role="status">
      {error_message}
    </Alert>
  )
}

function factsOf(request: Record): [string, ReactNode][] {
  const { status, tenant_name, environment_name, triggered_by, queued_at, priority, start_at, expires_at } = request
  const where = [tenant_name, environment_name].filter(Boolean).join(' / ')
  return [
    [
      'Source',
      <Text key="source" size="sm" span>
        <SourceLink kind={request.source_type} id={request.source_id} name={request.source_name} />{' '}
        {request.source_version}
      </Text>,
    ],
    ['Status', <StateBadge key="status" state={status} label={status === 'pending' ? 'waiting' : status} />],
    ['Targets', request.target_count.toLocaleString()],
    ...optional('Environment', where || undefined),
    ...optional('By', triggered_by),
    ['Since', <TimeAgo key="since" at={queued_at} />],
    ['Priority', priority],
    ...optional('Place', request.position?.toLocaleString()),
    ...optional('Starts at', start_at && <TimeAgo at={start_at} />),
    ...optional('Expires', expires_at && <TimeAgo at={expires_at} />),
    ...(status === 'pending' ? earliest(request) : []),
  ]
}

const optional = (name: string, value: ReactNode): [string, ReactNode][] =>
  value === undefined || value === null ? [] : [[name, value]]

const earliest = ({ earliest_start }: Record): [string, ReactNode][] =>
  earliest_start === undefined
    ? []
    : [['Earliest start', earliest_start === null ? 'not known' : <TimeAgo key="earliest" at={earliest_start} />]]
