import { type Database, isConnectionError, type Queryable } from '@slipway/database'
import { type Logger, sleep, uuidv7 } from '@slipway/runtime'
import { writeStarted } from '../deployments/write.ts'
import { freezesNow } from '../freezes/held.ts'
import { lockFreeSlots, type Slot } from '../leases/allocate.ts'
import { resumeOrphans } from '../leases/resume.ts'
import { vanishedRecords } from './check.ts'
import { nextWaiting } from './queue.ts'
import { type ClaimedRequest, claim, markDispatched, markFailed, markRetry } from './status.ts'

/** One drainer at a time in a database, so that the order of the queue holds over all replicas. */
export const DRAIN_LOCK = [0x51b, 1]
/** Requests a transaction dispatches at most. */
const BATCH = 50
/** While another replica drains, look again this soon: it may have passed what woke us. */
const BUSY_MS = 50
const MAX_BUSY = 10

export interface DrainOptions {
  database: Database
  logger: Logger
  /** Something was committed that waits in the outbox. */
  onCommitted(): void
}

type Round = 'more' | 'idle' | 'busy'

/**
 * Gives free slots first to runs that lost their instance, then to waiting requests, until there are no more of either.
 */
export async function drain(options: DrainOptions): Promise<void> {
  for (let busy = 0; busy < MAX_BUSY; ) {
    const round = await drainOnce(options)
    if (round === 'idle') return
    if (round === 'more') options.onCommitted()
    else {
      busy += 1
      await sleep(BUSY_MS)
    }
  }
}

function drainOnce({ database, logger }: DrainOptions): Promise<Round> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1, $2) AS locked',
      DRAIN_LOCK,
    )
    if (!rows[0]?.locked) return 'busy'
    const resumed = await resumeOrphans(tx, BATCH)
    const taken = await dispatchNext(tx, logger)
    return resumed + taken > 0 ? 'more' : 'idle'
  })
}

/** Number of requests that left the queue, or tried to. */
async function dispatchNext(tx: Queryable, logger: Logger): Promise<number> {
  const ids = await nextWaiting(tx, await freezesNow(tx), { limit: BATCH })
  if (ids.length === 0) return 0
  const slots = await lockFreeSlots(tx, ids.length)
  const claimed = slots.length === 0 ? [] : await claim(tx, ids.slice(0, slots.length))
  if (claimed.length === 0) return 0

  const vanished = await vanishedRecords(
    tx,
    claimed.map(({ id }) => id),
  )
  for (const request of claimed) {
    const reason = vanished.get(request.id)
    if (reason !== undefined) await markFailed(tx, request, reason)
  }
  const pairs = claimed
    .filter(({ id }) => !vanished.has(id))
    .flatMap((request, index): Pair[] => {
      const slot = slots[index]
      return slot ? [{ request, slot }] : []
    })
  await dispatch(tx, pairs, logger)
  return claimed.length
}

interface Pair {
  request: ClaimedRequest
  slot: Slot
}

/** All at once; if that fails, one by one, so that the one at fault is found and keeps no other waiting. */
async function dispatch(tx: Queryable, pairs: readonly Pair[], logger: Logger): Promise<void> {
  if (pairs.length === 0) return
  await tx.query('SAVEPOINT dispatch')
  try {
    await start(tx, pairs)
    await tx.query('RELEASE SAVEPOINT dispatch')
  } catch (error) {
    if (isPassing(error)) throw error
    await tx.query('ROLLBACK TO SAVEPOINT dispatch')
    const [first, ...rest] = pairs
    if (first && rest.length === 0) {
      logger.error('a pending request could not be dispatched', { pending_request_id: first.request.id, error })
      return markRetry(tx, first.request, 'The dispatch failed for an internal reason; see the log of the dispatcher')
    }
    for (const pair of pairs) await dispatch(tx, [pair], logger)
  }
}

async function start(tx: Queryable, pairs: readonly Pair[]): Promise<void> {
  const starting = pairs.map(({ request, slot }) => ({
    deployment_id: uuidv7(),
    tenant_id: request.tenant_id,
    request_id: request.request_id,
    slot,
    from: { pending_request_id: request.id },
  }))
  const leases = await writeStarted(tx, starting)
  await markDispatched(
    tx,
    pairs.flatMap(({ request }, index) => {
      const lease = leases[index]
      return lease ? [{ request, deployment_id: lease.deployment_id, instance_id: lease.instance_id }] : []
    }),
  )
}

/** Failures that say nothing about the request: the whole transaction is tried again. */
function isPassing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === '40001' || code === '40P01' || isConnectionError(error)
}
