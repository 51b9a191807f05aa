import { authRateLimited } from '@slipway/domain'
import { type Logger, TIMED_OUT, withTimeout } from '@slipway/runtime'
import { exchangeKey } from '@slipway/runtime/redis'
import { limitKey } from '../client-address.ts'
import type { LimitsRedis } from './redis.ts'

const ANSWER_MS = 1_000
const FAILURES_PER_MINUTE = 30

/** Limits the refused exchanges of tokens of an address. Others do not count: a pipeline may have many jobs. */
export interface ExchangeLimit {
  /** @throws Problem AUTH_RATE_LIMIT_EXCEEDED if the address has no failure left */
  check(address: string): Promise<void>
  /**
   * Counts a refused exchange.
   * @throws Problem AUTH_RATE_LIMIT_EXCEEDED if concurrent ones have used up the failures of the address
   */
  countFailure(address: string): Promise<void>
}

interface ExchangeLimitOptions {
  redis: Pick<LimitsRedis, 'countFailure'>
  namespace: string
  logger: Logger
  /** The longest time that a call waits for Redis; 1 s by default. */
  answerMs?: number | undefined
}

/**
 * Without Redis, exchanges go on without this limit: pipelines must not stop, and nobody guesses a signature. The general limit
 * of the address stays.
 */
export function createExchangeLimit(options: ExchangeLimitOptions): ExchangeLimit {
  const { redis, namespace, logger, answerMs = ANSWER_MS } = options

  async function ask(address: string, count: 0 | 1): Promise<number> {
    const key = exchangeKey(namespace, limitKey(address))
    try {
      const waitMs = await withTimeout(answerMs, redis.countFailure(key, FAILURES_PER_MINUTE, count))
      if (waitMs === TIMED_OUT) throw new Error(`no answer within ${answerMs} ms`)
      return waitMs
    } catch (error) {
      logger.warn('Redis does not count refused exchanges of tokens, so they have no limit of their own', { error })
      return 0
    }
  }

  async function requireLeft(address: string, count: 0 | 1): Promise<void> {
    const waitMs = await ask(address, count)
    if (waitMs === 0) return
    const reason = `More than ${FAILURES_PER_MINUTE} tokens of this address were refused within a minute`
    throw authRateLimited(Math.ceil(waitMs / 1_000), reason)
  }

  return {
    check: (address) => requireLeft(address, 0),
    countFailure: (address) => requireLeft(address, 1),
  }
}
