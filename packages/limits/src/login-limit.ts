import { authRateLimited, unavailable } from '@slipway/domain'
import { type Logger, TIMED_OUT, withTimeout } from '@slipway/runtime'
import { limitedAs } from './address-ranges.ts'
import type { LimitsRedis } from './redis.ts'
import type { ByAddress } from './settings.ts'

const ANSWER_MS = 1_000

export interface LoginLimit {
  /**
   * Counts an attempt to log in, successful or not.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED for one too many and while the address is locked out;
   *   SERVICE_UNAVAILABLE while attempts cannot be counted, as passwords must not be tried without limit
   */
  attempt(address: string): Promise<void>
}

export interface LoginLimitOptions {
  redis: Pick<LimitsRedis, 'countAttempt'>
  namespace: string
  attemptsPerMinute: ByAddress<number>
  lockoutSeconds: number
  logger: Logger
}

/** Allows a number of attempts in any minute. The next attempt locks its address out. */
export function createLoginLimit(options: LoginLimitOptions): LoginLimit {
  const { redis, namespace, attemptsPerMinute, lockoutSeconds, logger } = options
  async function count(key: string, allowed: number): Promise<number> {
    // In one slot of a cluster, as the script takes both.
    const prefix = `${namespace}:login:{${key}}`
    try {
      const counted = redis.countAttempt(`${prefix}:attempts`, `${prefix}:lock`, allowed, lockoutSeconds)
      const lockedMs = await withTimeout(ANSWER_MS, counted)
      if (lockedMs === TIMED_OUT) throw new Error(`no answer within ${ANSWER_MS} ms`)
      return lockedMs
    } catch (error) {
      logger.error('attempts to log in cannot be counted', { error })
      throw unavailable('Logging in is not possible now, as attempts cannot be counted; try again')
    }
  }
  return {
    async attempt(address) {
      const allowed = attemptsPerMinute(address)
      if (allowed === null) return
      const lockedMs = await count(limitedAs(address), allowed)
      if (lockedMs === 0) return
      const reason = `More than ${allowed} attempts to log in within a minute came from this address`
      throw authRateLimited(Math.ceil(lockedMs / 1_000), reason)
    },
  }
}
