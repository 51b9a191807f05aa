import type { Logger } from '@slipway/runtime'
import { Redis } from 'ioredis'

const COMMAND_MS = 2_000

/** Connects to Redis and comes back by itself. While it is away commands fail at once. */
export function connectRedis(url: string, logger: Logger, commandTimeoutMs = COMMAND_MS): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: COMMAND_MS,
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

export async function isRedisUp(redis: Redis): Promise<boolean> {
  return redis.status === 'ready' && (await redis.ping()) === 'PONG'
}
