import type { IncomingMessage } from 'node:http'
import { constantTimeEqual, type KeyRing, type Logger, TIMED_OUT, withTimeout } from '@slipway/runtime'
import { bucketKey } from '@slipway/runtime/redis'
import { LRUCache } from 'lru-cache'
import { limitKey } from '../client-address.ts'
import { LocalBuckets } from './bucket.ts'
import type { LimitsRedis } from './redis.ts'
import type { ByAddress, Rate } from './settings.ts'

const ANSWER_MS = 100
/** The interval of retries while Redis is away. */
const RETRY_MS = 500
const MAX_REFUSED = 10_000

export interface GeneralLimit {
  /** Counts a request of this address and returns whether it is within the limit. */
  admits(address: string): Promise<boolean>
}

interface GeneralLimitOptions {
  redis: Pick<LimitsRedis, 'takeFromBucket'>
  namespace: string
  /** The prefix of the names of the buckets, if they are not those of all requests. */
  purpose?: string
  rate: ByAddress<Rate>
  logger: Logger
  /** The longest time that a request waits for the shared buckets; 100 ms by default. */
  answerMs?: number | undefined
}

/**
 * The limit on all requests of an address. All replicas share its buckets in Redis. While Redis is away or slow, each replica
 * keeps buckets of its own.
 */
export function createGeneralLimit(options: GeneralLimitOptions): GeneralLimit {
  const { redis, namespace, purpose = '', rate, logger, answerMs = ANSWER_MS } = options
  const local = new LocalBuckets()
  /** When a refused address may try again. Requests at other replicas can only delay this. */
  const refusedUntil = new LRUCache<string, number>({ max: MAX_REFUSED })
  /** The time of the next attempt to reach Redis; null while Redis answers. */
  let askAgainAt: number | null = null

  async function takeShared(key: string, { rps, burst }: Rate): Promise<number | undefined> {
    try {
      const waitUs = await withTimeout(answerMs, redis.takeFromBucket(bucketKey(namespace, key), rps, burst))
      if (waitUs === TIMED_OUT) throw new Error(`no answer within ${answerMs} ms`)
      if (askAgainAt !== null) logger.info('the rate limit is shared with the other replicas again')
      askAgainAt = null
      return waitUs
    } catch (error) {
      if (askAgainAt === null) {
        logger.warn('Redis does not answer: until it does, this replica limits requests by itself', { error })
      }
      askAgainAt = performance.now() + RETRY_MS
      return undefined
    }
  }

  /** Without Redis, one request per retry interval calls Redis, and does not wait for the answer. */
  function takeLocally(key: string, limit: Rate, now: number): number {
    if (askAgainAt !== null && now >= askAgainAt) {
      askAgainAt = now + RETRY_MS
      void takeShared(key, limit)
    }
    return local.take(key, limit)
  }

  return {
    async admits(address) {
      const limit = rate(address)
      if (limit === null) return true
      const key = purpose + limitKey(address)
      const now = performance.now()
      const until = refusedUntil.get(key)
      if (until !== undefined) {
        if (now < until) return false
        refusedUntil.delete(key)
      }
      const shared = askAgainAt === null ? await takeShared(key, limit) : takeLocally(key, limit, now)
      const waitUs = shared ?? local.take(key, limit)
      if (waitUs === 0) return true
      refusedUntil.set(key, performance.now() + waitUs / 1_000)
      return false
    },
  }
}

/** Tells the service behind the gateway that the general limit has counted this request. */
export const COUNTED_HEADER = 'x-slipway-counted'
const PURPOSE = 'request counted by the general limit'

/** The value of the header for one URL. It needs the encryption keys, so clients cannot forge it. */
export function countedMark(keys: KeyRing, url: string): string {
  return markUnder(keys, keys.currentKeyId, url) ?? ''
}

/** Whether a service with the same keys has counted this request. */
export function isCounted({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>, keys: KeyRing): boolean {
  const mark = headers[COUNTED_HEADER]
  if (typeof mark !== 'string') return false
  const expected = markUnder(keys, mark.slice(0, Math.max(0, mark.lastIndexOf('.'))), url)
  return expected !== null && constantTimeEqual(mark, expected)
}

function markUnder(keys: KeyRing, keyId: string, url: string): string | null {
  const hmac = keys.hmac(PURPOSE, keyId)
  return hmac === null ? null : `${keyId}.${hmac.update(url).digest('base64url')}`
}
