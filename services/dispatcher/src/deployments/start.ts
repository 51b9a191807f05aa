import { type CommandBody, type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import { type Database, isPast, type Queryable, recordCall, unlessRefused } from '@slipway/database'
import { type ActiveFreeze, frozen } from '@slipway/domain'
import { currentTraceparent } from '@slipway/runtime'
import { type FreezesNow, freezesNow } from '../freezes/held.ts'
import { lockFreeSlots } from '../leases/allocate.ts'
import { anyOrphan } from '../leases/orphans.ts'
import { enqueueRequest, nextWaiting, rankBehind } from '../pending/queue.ts'
import { lockTenants, type TenantRoom, tenantRoom } from '../pending/tenant-room.ts'
import { writeStarted } from './write.ts'

type StartCommand = CommandBody<'deployment.start'>
export type StartOutcome = CommandReply<'deployment.start'>

export interface Received {
  deadline?: string | undefined
  request_id: string | null
}

/**
 * Starts a deployment where a slot is free and nobody waits before it, else queues the request. The same command gives
 * the same answer however often it comes; null past its deadline or once it was refused, when it has no effect.
 * @throws Problem DEPLOYMENT_FROZEN
 */
export function startDeployment(
  database: Database,
  command: StartCommand,
  { deadline, request_id }: Received,
): Promise<StartOutcome | null> {
  const started = database.transaction<StartOutcome | null>(async (tx) => {
    const { command_id, plan } = command
    const { priority } = plan.options
    // In one round trip, in this order; a slot is locked in good faith that it will be wanted.
    const [, earlier, past, freezes, orphaned, waiting, room, slots] = await Promise.all([
      serialize(tx, command_id),
      earlierOutcome(tx, command_id),
      isPast(tx, deadline),
      freezesNow(tx),
      anyOrphan(tx),
      rankBehind(tx, priority),
      tenantRoom(tx),
      lockFreeSlots(tx, 1),
    ])
    if (earlier) return earlier
    if (past) return null
    const overridden = refuseWhenFrozen(freezes, command)

    const tenant_id = plan.tenant?.id ?? null
    const record = { command, request_id, overridden }
    const [slot] = slots
    // Runs that lost their instance go first, then requests of the same or a higher priority that are not held back.
    const mayStart = slot !== undefined && !orphaned
    if (mayStart && !(await isHeld(tx, tenant_id, { freezes, room, waiting }))) {
      await Promise.all([
        writeStarted(tx, [
          {
            deployment_id: command_id,
            tenant_id,
            request_id,
            traceparent: currentTraceparent(),
            slot,
            from: { command },
          },
        ]),
        recordStart(tx, { ...record, outcome: 'started' }),
      ])
      return { outcome: 'started', deployment_id: command_id }
    }
    await Promise.all([enqueueRequest(tx, command, request_id), recordStart(tx, { ...record, outcome: 'queued' })])
    return { outcome: 'queued', pending_request_id: command_id, message: QUEUED_MESSAGE }
  })
  return unlessRefused(started)
}

interface StartRecord {
  command: StartCommand
  request_id: string | null
  outcome: 'started' | 'queued'
  overridden: ActiveFreeze[]
}

async function recordStart(tx: Queryable, { command, request_id, outcome, overridden }: StartRecord): Promise<void> {
  const { command_id, caller, plan, source_deployment_id, freeze_override } = command
  await recordCall(tx, {
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
  })
}

/** Of two copies of a command that come at once, the second waits here and then finds what the first did. */
async function serialize(tx: Queryable, commandId: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [commandId])
}

async function earlierOutcome(tx: Queryable, id: string): Promise<StartOutcome | null> {
  const { rows } = await tx.query<{ started: boolean; queued: boolean }>(
    `SELECT EXISTS (SELECT FROM deployments WHERE id = $1) AS started,
            EXISTS (SELECT FROM pending_requests WHERE id = $1) AS queued`,
    [id],
  )
  if (rows[0]?.started) return { outcome: 'started', deployment_id: id }
  if (rows[0]?.queued) return { outcome: 'queued', pending_request_id: id, message: QUEUED_MESSAGE }
  return null
}

/** The freezes that the caller overrode. */
function refuseWhenFrozen(freezes: FreezesNow, { plan, caller, freeze_override }: StartCommand): ActiveFreeze[] {
  const { blocked, active_freezes, can_override } = freezes.judge({
    tenant_id: plan.tenant?.id ?? null,
    environment_id: plan.environment?.id ?? null,
    solution_id: plan.source.type === 'solution' ? plan.source.id : null,
    caller,
    override: freeze_override !== null,
  })
  if (blocked) throw frozen(active_freezes, can_override)
  return active_freezes
}

/** Whether its tenant runs as many as it may, or one waits that comes first and that nothing holds back. */
async function isHeld(
  tx: Queryable,
  tenantId: string | null,
  { freezes, room, waiting }: { freezes: FreezesNow; room: TenantRoom | null; waiting: number | null },
): Promise<boolean> {
  if (room !== null && tenantId !== null) {
    const [, counted] = await Promise.all([lockTenants(tx, [tenantId]), tenantRoom(tx)])
    if (counted?.full.includes(tenantId)) return true
  }
  if (waiting === null) return false
  return (await nextWaiting(tx, { freezes, room }, { limit: 1, maxRank: waiting })).length > 0
}
