import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  attempt,
  countRowFailure,
  type Database,
  isCollision,
  isUnavailable,
  Quarantine,
  type Queryable,
} from '@slipway/database'
import type { MaybeSelector } from '@slipway/domain'
import { type Logger, sleep } from '@slipway/runtime'
import { writeStarted } from '../deployments/write.ts'
import { lockFreeSlots, type Slot, tenantsWithInstances } from '../leases/allocate.ts'
import { isAnyOrphan } from '../leases/leases.sql.ts'
import { FreeSlots, Pools } from '../leases/pools.ts'
import { dropUnlockedTargets, renewWanted } from '../locks/wanted.ts'
import { vanishedRecords } from '../pending/check.ts'
import { tryLockQueue } from '../pending/queue.sql.ts'
import { findNextRequests, holdsNow, type NextRequest, type QueueLimits, renewSubjects } from '../pending/queue.ts'
import { type ClaimedRequest, claim, markDispatched, markFailed, markRetry } from '../pending/status.ts'
import { lockTenants, tenantRoom } from '../pending/tenant-room.ts'
import { resumeOrphans } from '../runs/resume.ts'

/** The most requests in one transaction. */
const BATCH = 500
/** The most bytes of stored commands in one transaction. A few large plans fill it. */
const BATCH_BYTES = 1_500_000
/**
 * The delay before the next look while another replica dispatches. That replica may have missed the change that woke this one.
 */
const BUSY_MS = 50
const MAX_BUSY = 10

interface DispatchQueueOptions {
  database: Database
  logger: Logger
  /** Called after a commit that wrote to the outbox. */
  onCommitted(): void
  /** Runs that lost their instance and could not be started on another. */
  orphans?: Quarantine
}

type Round = 'more' | 'idle' | 'busy'

/** Gives free slots to runs that lost their instance, then to pending requests, until slots or requests run out. */
export async function dispatchQueue(options: DispatchQueueOptions): Promise<void> {
  for (let busy = 0; busy < MAX_BUSY; ) {
    const round = await dispatchRound(options)
    if (round === 'idle') return
    if (round === 'more') options.onCommitted()
    else {
      busy += 1
      await sleep(BUSY_MS)
    }
  }
}

function dispatchRound({
  database,
  logger,
  orphans = new Quarantine({ task: 'resume', logger }),
}: DispatchQueueOptions): Promise<Round> {
  return database.transaction(async (tx) => {
    const [{ locked: isAlone }, { any: orphaned }, holds, owners] = await Promise.all([
      tryLockQueue.one(tx),
      isAnyOrphan.one(tx),
      holdsNow(tx),
      tenantsWithInstances(tx),
    ])
    if (!isAlone) return 'busy'
    await dropUnlockedTargets(tx)
    let taken = 0
    // Instances of a single tenant first, then those that serve all tenants.
    for (const tenantId of [...owners, null]) {
      if (orphaned) taken += await resumeOrphans(tx, { limit: BATCH, tenantId, quarantine: orphans })
      // Counted again for each, because `findNextRequests` reserves room of the tenants.
      const itsHolds = tenantId === owners[0] || owners.length === 0 ? holds : await holdsNow(tx)
      taken += await dispatchNext(tx, itsHolds, tenantId, logger)
    }
    return taken > 0 ? 'more' : 'idle'
  })
}

/**
 * Returns how many requests left the queue, or failed to, for the instances of this tenant. Without a tenant, for the instances
 * that serve all.
 */
async function dispatchNext(
  tx: Queryable,
  holds: QueueLimits,
  tenantId: string | null,
  logger: Logger,
): Promise<number> {
  const slots = await assignSlots(tx, holds, tenantId)
  if (slots.size === 0) return 0
  const ids = [...slots.keys()]
  const { claimed, vanished, moved, locks } = await claimAndCheck(tx, ids, { holds, logger })
  if (claimed.length === 0) return moved

  await markFailed(
    tx,
    claimed.flatMap((request) => {
      const reason = vanished.get(request.id)
      return reason === undefined ? [] : [{ request, reason }]
    }),
  )
  const pairs = claimed
    .filter(({ id }) => !vanished.has(id))
    .flatMap((request): SlotAssignment[] => {
      const slot = slots.get(request.id)
      return slot ? [{ request, slot, locks: locks.get(request.id) ?? [] }] : []
    })
  await dispatch(tx, pairs, logger)
  return claimed.length + moved
}

/** The next requests, each with a locked slot. */
async function assignSlots(tx: Queryable, holds: QueueLimits, tenantId: string | null): Promise<Map<string, Slot>> {
  const pools = holds.pooled ? await Pools.read(tx, tenantId) : null
  const limitOf = pools && ((selector: MaybeSelector) => pools.countFree(selector))
  const pending = upToBytes(await findNextRequests(tx, holds, { limit: BATCH, tenantId, limitOf }))
  const next = holds.room === null ? pending : await withRoom(tx, pending)
  const free = await lockSlots(tx, next, pools, tenantId)
  return new Map(
    next.flatMap(({ id, selector }): [string, Slot][] => {
      const slot = free.take(selector)
      return slot ? [[id, slot]] : []
    }),
  )
}

async function lockSlots(
  tx: Queryable,
  next: readonly NextRequest[],
  pools: Pools | null,
  tenantId: string | null,
): Promise<FreeSlots> {
  if (next.length === 0) return new FreeSlots([])
  if (pools === null) return new FreeSlots(await lockFreeSlots(tx, next.length, tenantId))
  const selectors = next.map(({ selector }) => selector)
  return FreeSlots.withLabels(tx, await pools.lockSlots(tx, selectors, next.length), selectors)
}

function upToBytes(pending: readonly NextRequest[]): NextRequest[] {
  let bytes = 0
  return pending.filter(({ size }, index) => {
    bytes += size
    return index === 0 || bytes <= BATCH_BYTES
  })
}

/** Keeps the requests whose tenants are below their limit. Counts again under the lock of each tenant. */
async function withRoom(tx: Queryable, pending: readonly NextRequest[]): Promise<NextRequest[]> {
  const tenants = pending.map(({ tenant_id }) => tenant_id)
  const [, room] = await Promise.all([lockTenants(tx, tenants), tenantRoom(tx)])
  return pending.filter(({ tenant_id }) => room === null || room.take(tenant_id))
}

interface SlotAssignment {
  request: ClaimedRequest
  slot: Slot
  locks: readonly string[]
}

interface ClaimResult {
  claimed: ClaimedRequest[]
  /** Requests that can no longer be dispatched, with the reason. */
  vanished: Map<string, string>
  /** How many requests must be judged again, because a target has another tenant, environment or policy. */
  moved: number
  /** The targets that requests lock, by id of the request. */
  locks: ReadonlyMap<string, readonly string[]>
}

/** Claims all requests at once. If that fails, claims each alone: an unreadable request must not block the others. */
async function claimAndCheck(
  tx: Queryable,
  ids: readonly string[],
  options: { holds: QueueLimits; logger: Logger },
): Promise<ClaimResult> {
  const { holds, logger } = options
  try {
    return await attempt(tx, async (inner) => {
      const claimed = await claim(inner, ids)
      const vanished = await vanishedRecords(inner, claimed)
      const { locks, renewed } = await renewWanted(inner, claimed)
      const inHand = claimed.map(({ id }) => id)
      const subjects = holds.freezes.aboutPlaces ? await renewSubjects(inner, inHand) : []
      const moved = new Set([...renewed, ...subjects])
      return { claimed: claimed.filter(({ id }) => !moved.has(id)), vanished, moved: moved.size, locks }
    })
  } catch (error) {
    if (isPassing(error)) throw error
    if (ids.length === 1) {
      for (const request of await claim(tx, ids)) await retryLater(tx, request, { error, logger })
      return { claimed: [], vanished: new Map(), moved: 0, locks: new Map() }
    }
    const each: ClaimResult[] = []
    for (const id of ids) each.push(await claimAndCheck(tx, [id], options))
    return {
      claimed: each.flatMap(({ claimed }) => claimed),
      vanished: new Map(each.flatMap(({ vanished }) => [...vanished])),
      moved: each.reduce((total, { moved }) => total + moved, 0),
      locks: new Map(each.flatMap(({ locks }) => [...locks])),
    }
  }
}

function retryLater(
  tx: Queryable,
  request: ClaimedRequest,
  { error, logger }: { error: unknown; logger: Logger },
): Promise<void> {
  countRowFailure('dispatch')
  logger.error('a pending request could not be dispatched', { pending_request_id: request.id, error })
  return markRetry(tx, request, 'The dispatch failed for an internal reason; see the log of the dispatcher')
}

/** Dispatches all requests at once. If that fails, dispatches each alone: a wrong request must not block the others. */
async function dispatch(tx: Queryable, pairs: readonly SlotAssignment[], logger: Logger): Promise<void> {
  if (pairs.length === 0) return
  try {
    await attempt(tx, (inner) => start(inner, pairs))
  } catch (error) {
    if (isPassing(error)) throw error
    const [first, ...rest] = pairs
    if (first && rest.length === 0) return retryLater(tx, first.request, { error, logger })
    for (const pair of pairs) await dispatch(tx, [pair], logger)
  }
}

async function start(tx: Queryable, pairs: readonly SlotAssignment[]): Promise<void> {
  // Postgres marks the requests while this process maps their plans to rows (`drain`, goal 4).
  const write = async () => {
    await nextTurn()
    await writeStarted(
      tx,
      pairs.map(({ request, slot, locks }) => ({
        // A caller finds what it has asked for under one id, whether it waits or runs.
        deployment_id: request.id,
        locks,
        request_id: request.request_id,
        traceparent: request.traceparent,
        slot,
        command: withPriority(request),
        was_queued: true,
      })),
    )
  }
  await Promise.all([markDispatched(tx, pairs), write()])
}

function withPriority({ command, priority }: ClaimedRequest): ClaimedRequest['command'] {
  const { plan } = command
  return { ...command, plan: { ...plan, options: { ...plan.options, priority } } }
}

/** Whether the failure is not the fault of the request. Then the whole transaction is repeated. */
const isPassing = (error: unknown) => isCollision(error) || isUnavailable(error)
