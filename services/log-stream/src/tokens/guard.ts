import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { unavailable } from '@slipway/domain'
import { createTicker, type Logger } from '@slipway/runtime'
import { dropped } from '../streams/metrics.ts'
import type { RedeemedToken } from './redeem.ts'
import { type PresentRights, presentRightsOf } from './rights.ts'

/** An event reports a revocation at once. If the event is lost, the stream ends after this time. */
const CHECK_MS = 1_000
/** How long a stream may stay open while its rights cannot be checked. */
const UNKNOWN_MS = 10_000

export interface StreamGuard {
  /**
   * Checks an open stream until the returned function is called. Calls `end` when its token is no longer valid or `suffices`
   * returns false. Throws 503 if too many streams are open.
   */
  keep(holder: RedeemedToken, suffices: (rights: PresentRights) => boolean, end: () => void): () => void
  /** Checks all open streams now. */
  look(): void
  stop(): Promise<void>
}

interface GuardedStream {
  record: SseTokenRecord
  tenantId: string | null
  suffices(rights: PresentRights): boolean
  end(): void
  checkedAt: number
}

interface GuardOptions {
  database: Queryable
  logger: Logger
  checkMs?: number
  unknownMs?: number
  /** The most streams, in all, of one user, and of all users of one tenant. 0: no limit. */
  max?: number
  maxPerUser?: number
  maxPerTenant?: number
}

/** Ends open streams when their user logs out, is suspended, or loses a key or a permission. */
export function createGuard(options: GuardOptions): StreamGuard {
  const { database, logger, checkMs = CHECK_MS, unknownMs = UNKNOWN_MS } = options
  const { max = 0, maxPerUser = 0, maxPerTenant = 0 } = options
  const open = new Set<GuardedStream>()
  const ofUser = new Counts()
  const ofTenant = new Counts()

  function requirePlace(userId: string, tenantId: string | null): void {
    if (max > 0 && open.size >= max) throw unavailable('Too many streams are open: try again later')
    if (maxPerUser > 0 && ofUser.of(userId) >= maxPerUser) {
      throw unavailable(`You have ${maxPerUser} streams open here, and may not open more`)
    }
    if (maxPerTenant > 0 && tenantId !== null && ofTenant.of(tenantId) >= maxPerTenant) {
      throw unavailable(`The users of your tenant have ${maxPerTenant} streams open here, and may not open more`)
    }
  }

  function release(kept: GuardedStream): boolean {
    if (!open.delete(kept)) return false
    count(kept, -1)
    return true
  }

  function count({ record, tenantId }: GuardedStream, more: 1 | -1): void {
    ofUser.add(record.user_id, more)
    if (tenantId !== null) ofTenant.add(tenantId, more)
  }

  async function check(): Promise<void> {
    if (open.size === 0) return
    const groups = byCredential(open)
    const asked = performance.now()
    let rightsOfGroups: (PresentRights | null)[]
    try {
      rightsOfGroups = await presentRightsOf(
        database,
        groups.map(([{ record }]) => record),
      )
    } catch (error) {
      logger.warn('open streams cannot be checked', { error })
      for (const kept of open)
        if (performance.now() - kept.checkedAt > unknownMs) end(kept, 'unchecked', 'cannot be checked')
      return
    }
    for (const [index, group] of groups.entries()) {
      const rights = rightsOfGroups[index] ?? null
      for (const kept of group) {
        kept.checkedAt = asked
        if (rights === null || !kept.suffices(rights)) end(kept, 'revoked', 'may not be read any more')
      }
    }
  }

  function end(kept: GuardedStream, reason: string, why: string): void {
    if (!release(kept)) return
    dropped.inc({ reason })
    logger.info(`a stream ${why} and is ended`, { user_id: kept.record.user_id })
    kept.end()
  }

  const ticker = createTicker({ name: 'stream-guard', intervalMs: checkMs, logger, run: check })
  return {
    keep({ record, rights }, suffices, end) {
      const kept = { record, tenantId: rights.tenant_id, suffices, end, checkedAt: performance.now() }
      requirePlace(record.user_id, rights.tenant_id)
      open.add(kept)
      count(kept, 1)
      // Finds a revocation since the token was checked.
      ticker.kick()
      return () => void release(kept)
    },
    look: () => ticker.kick(),
    stop: () => ticker.stop(),
  }
}

/** Counts by key, without keys of the count 0. */
class Counts {
  readonly #counts = new Map<string, number>()

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string, more: 1 | -1): void {
    const count = this.of(key) + more
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

/** Streams with the same token rights. A client may have many. */
function byCredential(open: Iterable<GuardedStream>): [GuardedStream, ...GuardedStream[]][] {
  const groups = new Map<string, [GuardedStream, ...GuardedStream[]]>()
  for (const kept of open) {
    const { id, token_version } = kept.record.credential
    const key = `${id} ${token_version}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [kept])
    else group.push(kept)
  }
  return [...groups.values()]
}
