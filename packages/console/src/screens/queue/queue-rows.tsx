import { Anchor, Group, Table, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { withLocalTimes } from '../../components/local-times.ts'
import { Named } from '../../components/named.tsx'
import { requestSourceName } from '../../components/source-name.ts'
import { TargetNames } from '../../components/target-names.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { ChangePriority } from './change-priority.tsx'

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
      </Named>
    </Table.Td>
  )
}

/** The deployments that hold targets of the request. */
function Holders({ request: { blockers = [] } }: { request: Request }) {
  const held_targets = blockers.flatMap(({ details }) => details.held_targets ?? [])
  const names = new Map(held_targets.map(({ deployment_id, target_name }) => [deployment_id, target_name]))
  return [...names].map(
    ([id, name]) =>
      id !== undefined && (
        <Anchor key={id} component={Link} to={`/deployments/${id}`} size="xs" display="block">
          Show the deployment that holds {name}
        </Anchor>
      ),
  )
}

/** All that keeps the request from starting. The sentence of a freeze tells its end. */
function Blockers({ request: { blockers = [], waiting_reason } }: { request: Request }) {
  if (blockers.length === 0) return <Text size="sm">{withLocalTimes(waiting_reason ?? 'Its turn has not come')}</Text>
  return blockers.map(({ code, message, until }) => (
    <Text key={code} size="sm">
      {withLocalTimes(message)}
      {until !== null && code !== 'freeze' && (
        <>
          {', until about '}
          <TimeAgo at={until} />
        </>
      )}
    </Text>
  ))
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
  const { can } = useSession()
  const cancel = useWrite('cancelPending', 'listPending')
  const isBlockedBy = (code: Request['waiting_for']) => request.blockers?.some((blocker) => blocker.code === code)
  return (
    <Table.Tr>
      <Table.Td>{request.position ?? '–'}</Table.Td>
      <Table.Td>{request.priority}</Table.Td>
      <SourceCell request={request} />
      <Table.Td>
        <Blockers request={request} />
        {isBlockedBy('freeze') && can('freezes:read') && (
          <Anchor component={Link} to="/freezes" size="xs" display="block">
            Show the freezes
          </Anchor>
        )}
        <Holders request={request} />
        {request.instance_pool && (
          <Text size="xs">
            pool {request.instance_pool.name}, place {request.instance_pool.position.toLocaleString()} in it
          </Text>
        )}
        {isBlockedBy('instance_pool') && can('instances:read') && (
          <Anchor component={Link} to="/instances" size="xs">
            Show the instances
          </Anchor>
        )}
        {request.retry_count > 0 && (
          <Text size="xs">
            tried {request.retry_count} times, last <TimeAgo at={request.last_retry_at} />
          </Text>
        )}
      </Table.Td>
      <OriginCells request={request} start={request.estimated_start} />
      <Table.Td>
        {can('deployments:cancel') && (
          <Group gap={4} justify="flex-end">
            <ChangePriority id={request.id} priority={request.priority} highest={highest} />
            <ConfirmButton
              size="compact-xs"
              variant="default"
              label="Cancel request"
              question="The request leaves the queue and does not start."
              onConfirm={() => cancel.mutateAsync({ params: { id: request.id } })}
            />
          </Group>
        )}
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
