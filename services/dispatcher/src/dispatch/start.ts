import { type CallRecord, recordCalls, unlessRefused } from '@slipway/audit'
import { type CommandBody, type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import type { Database, Queryable } from '@slipway/database'
import { type FreezeVerdict, frozen, Problem, type TargetPlace } from '@slipway/domain'
import { type Starting, writeStarted } from '../deployments/write.ts'
import { type FreezesInForce, freezesInForce, placesOfTargets } from '../freezes/held.ts'
import { enqueueRequests } from '../pending/queue.ts'
import { tenantRoom } from '../pending/tenant-room.ts'
import { type AssignedStart, assignSlots } from './assign.ts'
import { checkTargets, type PermittedStart } from './check-targets.ts'
import { type CommandStatus, lockCommands, readStatus, type StartCommand } from './start-commands.ts'
import { lockStartSlots } from './start-slots.ts'

type StartBody = CommandBody<'deployment.start'>
export type StartOutcome = CommandReply<'deployment.start'>

/** The result of a command: null when it has no effect (its deadline is over, or it was refused), a Problem in a freeze. */
type StartResult = StartOutcome | Problem | null

/**
 * Starts each deployment that has a free slot and no pending request before it, and queues the others. The batch is one transaction,
 * in the order of the commands. A repeated command gives the same result.
 * @throws if any command in a batch is refused or fails: the whole batch throws, and the caller retries the commands one by one
 */
export async function startDeployments(database: Database, commands: readonly StartCommand[]): Promise<StartResult[]> {
  const started = database.transaction((tx) => startAll(tx, commands))
  return commands.length > 1 ? started : ((await unlessRefused(started)) ?? [null])
}

async function startAll(tx: Queryable, commands: readonly StartCommand[]): Promise<StartResult[]> {
  // One round trip. The slots are locked before it is known whether the commands need them.
  const [, statuses, freezes, room, slots] = await Promise.all([
    lockCommands(tx, commands),
    readStatus(tx, commands),
    freezesInForce(tx),
    tenantRoom(tx),
    lockStartSlots(tx, commands),
  ])
  const places = freezes.aboutPlaces ? await placesOfTargets(tx, commands.map(targetsOf)) : []
  const results: StartResult[] = []
  const permitted: PermittedStart[] = []
  for (const [index, each] of commands.entries()) {
    const status = statuses[index] as CommandStatus
    const { blocked, active_freezes, can_override } = judge(freezes, each.command, places[index])
    if (status.started || status.queued) results[index] = outcomeOf(each.command, status.started)
    else if (status.past) results[index] = null
    else if (blocked) results[index] = frozen(active_freezes, can_override)
    else permitted.push({ ...each, index, rank_behind: status.rank_behind, overridden: active_freezes })
  }
  const limits = { freezes, room, pooled: statuses.some(({ any_pooled }) => any_pooled) }
  const anyPolicy = statuses.some(({ any_policy }) => any_policy)
  const checked = await checkTargets(tx, permitted, anyPolicy ? limits : null)
  const authorized = checked.flatMap((each) => (each instanceof Problem ? [] : [each]))
  for (const [place, { index }] of permitted.entries()) {
    const refusal = checked[place]
    if (refusal instanceof Problem) results[index] = refusal
  }
  const orphaned = statuses.some((status) => status.orphaned)
  const assigned = await assignSlots(tx, authorized, { ...limits, orphaned, ...slots })
  await Promise.all([
    writeStarted(tx, assigned.flatMap(startingOf)),
    enqueueRequests(
      tx,
      assigned.flatMap(({ slot, superseded, ...start }) =>
        slot === undefined ? [{ ...start, queued_at: superseded.queued_at }] : [],
      ),
    ),
    recordCalls(tx, assigned.map(recordOf)),
  ])
  for (const { index, command, slot } of assigned) results[index] = outcomeOf(command, slot !== undefined)
  return results
}

const targetsOf = ({ command }: StartCommand) => command.plan.targets.map(({ id }) => id)

function outcomeOf({ command_id, warnings = [], selection }: StartBody, started: boolean): StartOutcome {
  if (started) return { outcome: 'started', deployment_id: command_id, warnings }
  const queued = { outcome: 'queued', pending_request_id: command_id, message: QUEUED_MESSAGE, warnings } as const
  const { unchanged_target_ids } = selection
  return unchanged_target_ids === undefined ? queued : { ...queued, unchanged_target_ids }
}

function startingOf({ slot, ...start }: AssignedStart): Starting[] {
  if (slot === undefined) return []
  const { command, request_id, traceparent, locks } = start
  return [{ deployment_id: command.command_id, request_id, traceparent, slot, command, locks, was_queued: false }]
}

function recordOf({ command, request_id, api_key, overridden, superseded, slot }: AssignedStart): CallRecord {
  const { command_id, caller, plan, source_deployment_id, freeze_override } = command
  const outcome = slot === undefined ? 'queued' : 'started'
  return {
    command_id,
    action: source_deployment_id === null ? 'deployment.create' : 'deployment.redeploy',
    caller,
    api_key,
    request_id,
    ...(outcome === 'queued' ? { resource_type: 'pending_request' } : {}),
    resource_id: command_id,
    tenant_id: plan.tenant?.id ?? null,
    details: {
      outcome,
      source: plan.source,
      ...(source_deployment_id === null ? {} : { source_deployment_id }),
      environment: plan.environment,
      target_count: plan.targets.length,
      priority: plan.options.priority,
      ...(superseded.ids.length === 0 ? {} : { superseded: superseded.ids }),
      // By name: freezes can be deleted later.
      ...(freeze_override === null
        ? {}
        : {
            freeze_override: {
              reason: freeze_override.reason,
              freezes: overridden.map(({ id, name }) => ({ id, name })),
            },
          }),
    },
  }
}

function judge(
  freezes: FreezesInForce,
  { plan, caller, freeze_override }: StartBody,
  targets: readonly TargetPlace[] = [],
): FreezeVerdict {
  return freezes.judge({
    tenant_id: plan.tenant?.id ?? null,
    environment_id: plan.environment?.id ?? null,
    solution_id: plan.source.type === 'solution' ? plan.source.id : null,
    targets,
    caller,
    override: freeze_override !== null,
  })
}
