import type { Logger } from '@slipway/runtime'
import { Redis } from 'ioredis'

/** How long a batch may wait for Redis before it goes on without. */
const COMMAND_MS = 500

/** Connects to Redis and comes back by itself. While it is away commands fail at once: nothing here waits for it. */
export function connectRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    commandTimeout: COMMAND_MS,
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 6), 3_000),
  })
  let reported = false
  redis.on('ready', () => {
    reported = false
    logger.info('connected to Redis')
  })
  redis.on('error', (error) => {
    if (!reported) logger.warn('Redis cannot be reached, trying again', { error })
    reported = true
  })
  return redis
}
