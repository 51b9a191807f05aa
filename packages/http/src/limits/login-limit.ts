import { authRateLimited, unavailable } from '@slipway/domain'
import { type Logger, TIMED_OUT, withTimeout } from '@slipway/runtime'
import { loginKeys } from '@slipway/runtime/redis'
import { limitKey } from '../client-address.ts'
import type { LimitsRedis } from './redis.ts'
import type { ByAddress } from './settings.ts'

const ANSWER_MS = 1_000

export interface LoginLimit {
  /**
   * Counts an attempt to log in, successful or not.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED if the address has made too many attempts;
   *   SERVICE_UNAVAILABLE without Redis, because passwords must not be tried without limit
   */
  attempt(address: string): Promise<void>
}

interface LoginLimitOptions {
  redis: Pick<LimitsRedis, 'countAttempt'>
  namespace: string
  attemptsPerMinute: ByAddress<number>
  lockoutSeconds: number
  logger: Logger
  /** The longest time that a login waits for Redis; 1 s by default. */
  answerMs?: number | undefined
}

/** Allows a number of attempts in any minute. The next attempt locks its address out. */
export function createLoginLimit(options: LoginLimitOptions): LoginLimit {
  const { redis, namespace, attemptsPerMinute, lockoutSeconds, logger, answerMs = ANSWER_MS } = options
  async function count(key: string, allowed: number): Promise<number> {
    const { attempts, lock } = loginKeys(namespace, key)
    try {
      const counted = redis.countAttempt(attempts, lock, allowed, lockoutSeconds)
      const lockedMs = await withTimeout(answerMs, counted)
      if (lockedMs === TIMED_OUT) throw new Error(`no answer within ${answerMs} ms`)
      return lockedMs
    } catch (error) {
      logger.error('Redis cannot count attempts to log in, so logins are refused', { error })
      throw unavailable('Login attempts cannot be counted now, so logins are refused; try again')
    }
  }
  return {
    async attempt(address) {
      const allowed = attemptsPerMinute(address)
      if (allowed === null) return
      const lockedMs = await count(limitKey(address), allowed)
      if (lockedMs === 0) return
      const reason = `More than ${allowed} attempts to log in within a minute from this address`
      throw authRateLimited(Math.ceil(lockedMs / 1_000), reason)
    },
  }
}
