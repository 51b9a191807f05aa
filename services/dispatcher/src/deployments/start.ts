import { type CommandBody, type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import {
  type CarriedOut,
  type Database,
  isBusy,
  isConnectionError,
  type Queryable,
  recordCalls,
  unlessRefused,
} from '@slipway/database'
import { type ActiveFreeze, type FreezeVerdict, frozen } from '@slipway/domain'
import { type FreezesNow, freezesNow } from '../freezes/held.ts'
import { lockFreeSlots, type Slot } from '../leases/allocate.ts'
import { ANY_ORPHAN } from '../leases/orphans.ts'
import { enqueueRequests, type Holds, nextWaiting, rankBehind } from '../pending/queue.ts'
import { lockTenants, type TenantRoom, tenantRoom } from '../pending/tenant-room.ts'
import { type Starting, writeStarted } from './write.ts'

type StartCommand = CommandBody<'deployment.start'>
export type StartOutcome = CommandReply<'deployment.start'>

/** A command as it came. */
export interface Arrived {
  command: StartCommand
  deadline?: string | undefined
  request_id: string | null
  traceparent: string | null
}

/** What a command came to: null past its deadline or once it was refused, when it has no effect. */
type End = PromiseSettledResult<StartOutcome | null>

const done = (value: StartOutcome | null): End => ({ status: 'fulfilled', value })
const failed = (reason: unknown): End => ({ status: 'rejected', reason })

/**
 * Starts deployments where slots are free and nobody waits before them, else queues the requests: all in one transaction and
 * in their order. The same command gives the same answer however often it comes. In a freeze its end is a Problem.
 */
export async function startDeployments(database: Database, arrived: readonly Arrived[]): Promise<End[]> {
  const started = database.transaction((tx) => startAll(tx, arrived))
  try {
    if (arrived.length > 1) return await started
    return (await unlessRefused(started)) ?? [done(null)]
  } catch (error) {
    if (arrived.length === 1 || isConnectionError(error) || isBusy(error)) return arrived.map(() => failed(error))
    // One of them is at fault, or was refused meanwhile: it keeps no other from starting.
    const ends: End[] = []
    for (const each of arrived) ends.push(...(await startDeployments(database, [each])))
    return ends
  }
}

async function startAll(tx: Queryable, arrived: readonly Arrived[]): Promise<End[]> {
  // In one round trip, in this order; slots are locked in good faith that they will be wanted.
  const [, looks, freezes, room, slots] = await Promise.all([
    serialize(tx, arrived),
    lookAt(tx, arrived),
    freezesNow(tx),
    tenantRoom(tx),
    lockFreeSlots(tx, arrived.length),
  ])
  const ends: End[] = []
  const passed: Passed[] = []
  for (const [index, each] of arrived.entries()) {
    const look = looks[index] as Look
    const { blocked, active_freezes, can_override } = judge(freezes, each.command)
    if (look.started || look.queued) ends[index] = done(outcomeOf(each.command, look.started))
    else if (look.past) ends[index] = done(null)
    else if (blocked) ends[index] = failed(frozen(active_freezes, can_override))
    else passed.push({ ...each, index, waiting: look.waiting, overridden: active_freezes })
  }
  // Runs that lost their instance go first.
  const free = looks.some(({ orphaned }) => orphaned) ? [] : slots
  const decided = await assign(tx, passed, { freezes, room, slots: free })
  await Promise.all([
    writeStarted(tx, decided.flatMap(startingOf)),
    enqueueRequests(
      tx,
      decided.filter(({ slot }) => slot === undefined),
    ),
    recordCalls(tx, decided.map(recordOf)),
  ])
  for (const { index, command, slot } of decided) ends[index] = done(outcomeOf(command, slot !== undefined))
  return ends
}

const outcomeOf = ({ command_id }: StartCommand, started: boolean): StartOutcome =>
  started
    ? { outcome: 'started', deployment_id: command_id }
    : { outcome: 'queued', pending_request_id: command_id, message: QUEUED_MESSAGE }

const tenantOf = ({ command }: Arrived) => command.plan.tenant?.id ?? null

/** A command that nothing forbids. */
interface Passed extends Arrived {
  /** Its place among those that came with it. */
  index: number
  waiting: Look['waiting']
  /** The freezes that its caller overrides. */
  overridden: ActiveFreeze[]
}

/** With the slot in which it starts; without one it is queued. */
type Decided = Passed & { slot: Slot | undefined }

/** Gives slots to those before whom nobody waits and whose tenants may run one more. */
async function assign(
  tx: Queryable,
  passed: readonly Passed[],
  { freezes, room, slots }: { freezes: FreezesNow; room: TenantRoom | null; slots: readonly Slot[] },
): Promise<Decided[]> {
  if (slots.length === 0) return passed.map((each) => ({ ...each, slot: undefined }))
  const first = await firstWaiting(tx, passed, { freezes, room })
  const counted = room === null ? null : await roomNow(tx, passed)
  const free = [...slots]
  return passed.map((each) => {
    const isBehind = first !== null && each.waiting !== null && first <= each.waiting
    const mayStart = free.length > 0 && !isBehind && (counted?.take(tenantOf(each)) ?? true)
    return { ...each, slot: mayStart ? free.shift() : undefined }
  })
}

/** The rank of the first request in the queue that nothing holds back, if it comes before any of these. */
async function firstWaiting(tx: Queryable, passed: readonly Passed[], holds: Holds): Promise<number | null> {
  const ranks = passed.flatMap(({ waiting }) => waiting ?? [])
  if (ranks.length === 0) return null
  const [first] = await nextWaiting(tx, holds, { limit: 1, maxRank: Math.max(...ranks) })
  return first?.rank ?? null
}

/** What their tenants may run, counted again now that nobody else can start anything for them. */
async function roomNow(tx: Queryable, passed: readonly Passed[]): Promise<TenantRoom | null> {
  const [, room] = await Promise.all([lockTenants(tx, passed.map(tenantOf)), tenantRoom(tx)])
  return room
}

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

/** Of two copies of a command that come at once, the second waits here and then finds what the first did. */
async function serialize(tx: Queryable, arrived: readonly Arrived[]): Promise<void> {
  const ids = arrived.map(({ command }) => command.command_id).sort()
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended(id, 0)) FROM unnest($1::text[]) AS c (id)', [ids])
}

/** What the database says of a command at the moment. */
interface Look {
  started: boolean
  queued: boolean
  past: boolean
  /** What would be its rank; null when nothing waits that comes first. */
  waiting: number | null
  /** Whether some deployment has lost its instance. */
  orphaned: boolean
}

async function lookAt(tx: Queryable, arrived: readonly Arrived[]): Promise<Look[]> {
  const { rows } = await tx.query<Look>(
    // Not EXISTS, of which Postgres, that knows little of new tables, makes a hash of all deployments.
    `SELECT (SELECT true FROM deployments d WHERE d.id = c.id) IS NOT NULL AS started,
            (SELECT true FROM pending_requests p WHERE p.id = c.id) IS NOT NULL AS queued,
            coalesce(clock_timestamp() > c.deadline, false) AS past,
            ${rankBehind('c.priority')} AS waiting,
            (SELECT ${ANY_ORPHAN}) AS orphaned
       FROM unnest($1::uuid[], $2::timestamptz[], $3::int[]) WITH ORDINALITY AS c (id, deadline, priority, place)
      ORDER BY c.place`,
    [
      arrived.map(({ command }) => command.command_id),
      arrived.map(({ deadline }) => deadline ?? null),
      arrived.map(({ command }) => command.plan.options.priority),
    ],
  )
  return rows
}

function judge(freezes: FreezesNow, { plan, caller, freeze_override }: StartCommand): FreezeVerdict {
  return freezes.judge({
    tenant_id: plan.tenant?.id ?? null,
    environment_id: plan.environment?.id ?? null,
    solution_id: plan.source.type === 'solution' ? plan.source.id : null,
    caller,
    override: freeze_override !== null,
  })
}
