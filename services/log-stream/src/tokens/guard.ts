import type { SseTokenRecord } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { unavailable } from '@slipway/domain'
import { createTicker, type Logger } from '@slipway/runtime'
import { dropped } from '../streams/metrics.ts'
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
  keep(record: SseTokenRecord, suffices: (rights: PresentRights) => boolean, end: () => void): () => void
  /** Checks all open streams now. */
  look(): void
  stop(): Promise<void>
}

interface GuardedStream {
  record: SseTokenRecord
  suffices(rights: PresentRights): boolean
  end(): void
  checkedAt: number
}

interface GuardOptions {
  database: Queryable
  logger: Logger
  checkMs?: number
  unknownMs?: number
  /** The most streams, in all and of one user. 0: no limit. */
  max?: number
  maxPerUser?: number
}

/** Ends open streams when their user logs out, is suspended, or loses a key or a permission. */
export function createGuard(options: GuardOptions): StreamGuard {
  const { database, logger, checkMs = CHECK_MS, unknownMs = UNKNOWN_MS, max = 0, maxPerUser = 0 } = options
  const open = new Set<GuardedStream>()
  const ofUser = new Map<string, number>()

  function requirePlace(userId: string): void {
    if (max > 0 && open.size >= max) throw unavailable('Too many streams are open: try again later')
    if (maxPerUser > 0 && (ofUser.get(userId) ?? 0) >= maxPerUser) {
      throw unavailable(`You have ${maxPerUser} streams open here, and may not open more`)
    }
  }

  function letGo(kept: GuardedStream): boolean {
    if (!open.delete(kept)) return false
    const { user_id } = kept.record
    const left = (ofUser.get(user_id) ?? 1) - 1
    if (left === 0) ofUser.delete(user_id)
    else ofUser.set(user_id, left)
    return true
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
    if (!letGo(kept)) return
    dropped.inc({ reason })
    logger.info(`a stream ${why} and is ended`, { user_id: kept.record.user_id })
    kept.end()
  }

  const ticker = createTicker({ name: 'stream-guard', intervalMs: checkMs, logger, run: check })
  return {
    keep(record, suffices, end) {
      const kept = { record, suffices, end, checkedAt: performance.now() }
      requirePlace(record.user_id)
      open.add(kept)
      ofUser.set(record.user_id, (ofUser.get(record.user_id) ?? 0) + 1)
      // Finds a revocation since the token was checked.
      ticker.kick()
      return () => void letGo(kept)
    },
    look: () => ticker.kick(),
    stop: () => ticker.stop(),
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
