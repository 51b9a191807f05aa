import { type CommandBody, type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import { type CarriedOut, type Database, type Queryable, recordCalls, unlessRefused } from '@slipway/database'
import { type FreezeVerdict, frozen, type Problem, type TargetPlace } from '@slipway/domain'
import { type Starting, writeStarted } from '../deployments/write.ts'
import { type FreezesInForce, freezesInForce, placesOfTargets } from '../freezes/held.ts'
import { lockFreeSlots, lockOwnSlots, type Slot } from '../leases/allocate.ts'
import { enqueueRequests } from '../pending/queue.ts'
import { tenantRoom } from '../pending/tenant-room.ts'
import { type Arrived, type Look, lookAt, serialize } from './arrived.ts'
import { assign, type Decided, type Passed, tenantOf } from './assign.ts'

type StartCommand = CommandBody<'deployment.start'>
export type StartOutcome = CommandReply<'deployment.start'>

/** What a command came to: null past its deadline or once it was refused, when it has no effect; a Problem in a freeze. */
type End = StartOutcome | Problem | null

/**
 * Starts deployments where slots are free and nobody waits before them, else queues the requests: all in one transaction and
 * in their order. The same command gives the same answer however often it comes. Throws for all where one of several was
 * refused meanwhile, as where one is at fault: each is to be tried alone then.
 */
export async function startDeployments(database: Database, arrived: readonly Arrived[]): Promise<End[]> {
  const started = database.transaction((tx) => startAll(tx, arrived))
  return arrived.length > 1 ? started : ((await unlessRefused(started)) ?? [null])
}

const NO_SLOTS = { slots: [], ownSlots: new Map<string, Slot[]>() }

async function startAll(tx: Queryable, arrived: readonly Arrived[]): Promise<End[]> {
  // In one round trip, in this order; slots are locked in good faith that they will be wanted.
  const [, looks, freezes, room, slots, ownSlots] = await Promise.all([
    serialize(tx, arrived),
    lookAt(tx, arrived),
    freezesInForce(tx),
    tenantRoom(tx),
    lockFreeSlots(tx, arrived.length),
    lockOwnSlots(tx, arrived.map(tenantOf)),
  ])
  const places = freezes.aboutPlaces ? await placesOfTargets(tx, arrived.map(targetsOf)) : []
  const ends: End[] = []
  const passed: Passed[] = []
  for (const [index, each] of arrived.entries()) {
    const look = looks[index] as Look
    const { blocked, active_freezes, can_override } = judge(freezes, each.command, places[index])
    if (look.started || look.queued) ends[index] = outcomeOf(each.command, look.started)
    else if (look.past) ends[index] = null
    else if (blocked) ends[index] = frozen(active_freezes, can_override)
    else passed.push({ ...each, index, waiting: look.waiting, overridden: active_freezes })
  }
  // Runs that lost their instance go first.
  const free = looks.some(({ orphaned }) => orphaned) ? NO_SLOTS : { slots, ownSlots }
  const decided = await assign(tx, passed, { freezes, room, ...free })
  await Promise.all([
    writeStarted(tx, decided.flatMap(startingOf)),
    enqueueRequests(
      tx,
      decided.filter(({ slot }) => slot === undefined),
    ),
    recordCalls(tx, decided.map(recordOf)),
  ])
  for (const { index, command, slot } of decided) ends[index] = outcomeOf(command, slot !== undefined)
  return ends
}

const targetsOf = ({ command }: Arrived) => command.plan.targets.map(({ id }) => id)

const outcomeOf = ({ command_id, warnings = [] }: StartCommand, started: boolean): StartOutcome =>
  started
    ? { outcome: 'started', deployment_id: command_id, warnings }
    : { outcome: 'queued', pending_request_id: command_id, message: QUEUED_MESSAGE, warnings }

function startingOf({ slot, ...arrived }: Decided): Starting[] {
  if (slot === undefined) return []
  const { command, request_id, traceparent } = arrived
  const cause = { request_id, traceparent }
  return [{ deployment_id: command.command_id, tenant_id: tenantOf(arrived), ...cause, slot, from: { command } }]
}

function recordOf({ command, request_id, overridden, slot }: Decided): CarriedOut {
  const { command_id, caller, plan, source_deployment_id, freeze_override } = command
  const outcome = slot === undefined ? 'queued' : 'started'
  return {
    command_id,
    action: source_deployment_id === null ? 'deployment.create' : 'deployment.redeploy',
    caller,
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
      // The freezes that were in force, by name: which they were cannot be told later.
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
  { plan, caller, freeze_override }: StartCommand,
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
