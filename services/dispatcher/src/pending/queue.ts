import { type CommandBody, PENDING_TARGETS } from '@slipway/contracts'
import { enqueue, eventMessage, freezeSubject, type Queryable } from '@slipway/database'
import { variantOf } from '@slipway/domain'
import { storeRequestedTargets } from '../locks/requested-targets.ts'
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
  await addRequests.run(tx, {
    requests: requests.map(toRow),
    commands: requests.map(({ command }) => command),
    subjects: requests.map(({ command: { plan, caller, freeze_override } }) =>
      freezeSubject({ plan, caller, override: freeze_override !== null }),
    ),
  })
  await storeRequestedTargets(
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

function toRow({ command, request_id, traceparent, queued_at }: QueuedRequest) {
  const { options, tenant, environment, source, targets, actions } = command.plan
  return {
    id: command.command_id,
    priority: options.priority,
    tenant_id: tenant?.id ?? null,
    tenant_name: tenant?.name ?? null,
    environment_id: environment?.id ?? null,
    environment_name: environment?.name ?? null,
    source_type: source.type,
    source_id: source.id,
    source_name: source.name,
    source_version: source.version,
    target_count: targets.length,
    step_count: targets.length * actions.length,
    first_targets: targets.slice(0, PENDING_TARGETS).map(({ id, name }) => ({ id, name })),
    triggered_by: command.caller.username,
    request_id,
    traceparent,
    queued_at,
    start_at: momentOf(command.start_at),
    expires_at: momentOf(command.expires_at),
    overrides_rules: command.rules_override !== null,
    author_id: command.caller.user_id,
    author_key_id: command.caller.key_id ?? null,
    variant: variantOf(source, actions),
    plan_hash: command.plan_hash,
  }
}

const momentOf = (time: string | null) => (time === null ? null : new Date(time))
