import { Anchor, Group, Table, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { BlockerList } from '../../components/blocker-list.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { Named } from '../../components/named.tsx'
import { requestSourceName } from '../../components/source-name.ts'
import { TargetNames } from '../../components/target-names.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { CancelRequest } from './cancel-request.tsx'
import { ChangePriority } from './change-priority.tsx'
import { placeOf } from './waiting.ts'

type Request = Answer<'listPending'>[number]

const whereOf = ({ tenant_name, environment_name }: Request) =>
  [tenant_name, environment_name].filter(Boolean).join(' / ') || '–'

/** What the request deploys, and on which targets. */
function SourceCell({ request }: { request: Request }) {
  const { can } = useSession()
  const { source_type, source_id, targets, target_count } = request
  const name = requestSourceName(request)
  return (
    <Table.Td>
      <Named
        name={
          can(`${source_type}s:read`) ? (
            <Anchor component={Link} to={`/sources/${source_type}s/${source_id}`} size="sm" fw={600}>
              {name}
            </Anchor>
          ) : (
            name
          )
        }
      >
        <TargetNames targets={targets} count={target_count} size="xs" />
        <div>
          <RequestLink request={request} />
        </div>
      </Named>
    </Table.Td>
  )
}

/** All that keeps the request from starting. */
function Blockers({ request: { blockers = [], waiting_reason } }: { request: Request }) {
  if (blockers.length === 0) return <Text size="sm">{withLocalTimes(waiting_reason ?? 'Its turn has not come')}</Text>
  return <BlockerList blockers={blockers} />
}

/** Leads to the page of the request: its plan, and its approvals. */
function RequestLink({ request: { id, status, can_approve } }: { request: Request }) {
  const details = status === 'pending' ? 'Plan and details' : 'Details'
  return (
    <Anchor component={Link} to={`/queue/${id}`} size="xs">
      {can_approve ? 'Approve…' : details}
    </Anchor>
  )
}

/** Where the request comes from, since when it is here, and when it starts or has started. */
function OriginCells({ request, start }: { request: Request; start: string | undefined }) {
  return (
    <>
      <Table.Td>{whereOf(request)}</Table.Td>
      <Table.Td>{request.triggered_by ?? '–'}</Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <TimeAgo at={request.queued_at} />
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <TimeAgo at={start} />
      </Table.Td>
    </>
  )
}

/** `highest` is the priority of the request that starts next. */
export function WaitingRow({ request, highest }: { request: Request; highest: number }) {
  return (
    <Table.Tr>
      <Table.Td>{placeOf(request)}</Table.Td>
      <Table.Td>{request.priority}</Table.Td>
      <SourceCell request={request} />
      <Table.Td>
        <Blockers request={request} />
        {request.instance_pool && (
          <Text size="xs">
            pool {request.instance_pool.name}, place {request.instance_pool.position.toLocaleString()} in it
          </Text>
        )}
        {request.retry_count > 0 && (
          <Text size="xs">
            tried {request.retry_count} times, last <TimeAgo at={request.last_retry_at} />
          </Text>
        )}
      </Table.Td>
      <OriginCells request={request} start={request.earliest_start ?? request.estimated_start} />
      <Table.Td>
        <Group gap={4} justify="flex-end">
          <ChangePriority request={request} highest={highest} />
          <CancelRequest request={request} size="compact-xs" />
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

export function EndedRow({ request }: { request: Request }) {
  return (
    <Table.Tr>
      <Table.Td>{request.priority}</Table.Td>
      <SourceCell request={request} />
      <Table.Td>
        {request.deployment_id ? (
          <Anchor component={Link} to={`/deployments/${request.deployment_id}`} size="sm">
            Its deployment
          </Anchor>
        ) : (
          <Text size="sm">{request.error_message ?? request.status}</Text>
        )}
      </Table.Td>
      <OriginCells request={request} start={request.dispatched_at} />
    </Table.Tr>
  )
}
