import { type CommandBody, PENDING_TARGETS } from '@slipway/contracts'
import { enqueue, eventMessage, freezeSubject, type Queryable } from '@slipway/database'
import { storeWanted } from '../locks/wanted.ts'
import { addRequests } from './queue.sql.ts'

/** A request to queue. */
export interface QueuedRequest {
  command: CommandBody<'deployment.start'>
  request_id: string | null
  traceparent: string | null
  /** The ids of the targets that it locks. */
  locks: readonly string[]
  /** Since when it waits; null: since now. */
  queued_at: string | null
}

/** Adds requests to the queue. The id of a request is the id of its command. */
export async function enqueueRequests(tx: Queryable, requests: readonly QueuedRequest[]): Promise<void> {
  if (requests.length === 0) return
  const plans = requests.map(({ command }) => command.plan)
  await addRequests.run(tx, {
    ids: requests.map(({ command }) => command.command_id),
    priorities: plans.map(({ options }) => options.priority),
    commands: requests.map(({ command }) => command),
    subjects: requests.map(({ command: { plan, caller, freeze_override } }) =>
      freezeSubject({ plan, caller, override: freeze_override !== null }),
    ),
    tenant_ids: plans.map(({ tenant }) => tenant?.id ?? null),
    tenant_names: plans.map(({ tenant }) => tenant?.name ?? null),
    environment_ids: plans.map(({ environment }) => environment?.id ?? null),
    environment_names: plans.map(({ environment }) => environment?.name ?? null),
    source_types: plans.map(({ source }) => source.type),
    source_ids: plans.map(({ source }) => source.id),
    source_names: plans.map(({ source }) => source.name),
    source_versions: plans.map(({ source }) => source.version),
    target_counts: plans.map(({ targets }) => targets.length),
    step_counts: plans.map(({ targets, actions }) => targets.length * actions.length),
    first_targets: plans.map(({ targets }) => targets.slice(0, PENDING_TARGETS).map(({ id, name }) => ({ id, name }))),
    triggered_by: requests.map(({ command }) => command.caller.username),
    request_ids: requests.map(({ request_id }) => request_id),
    traceparents: requests.map(({ traceparent }) => traceparent),
    queued_at: requests.map(({ queued_at }) => queued_at),
  })
  await storeWanted(
    tx,
    requests.flatMap(({ command, locks }) => (locks.length === 0 ? [] : [{ id: command.command_id, targets: locks }])),
  )
  await enqueue(
    tx,
    requests.map(({ command, request_id, traceparent }) => ({
      ...eventMessage('pending.created', {
        pending_request_id: command.command_id,
        tenant_id: command.plan.tenant?.id ?? null,
        status: 'pending',
      }),
      request_id,
      traceparent,
    })),
  )
}
