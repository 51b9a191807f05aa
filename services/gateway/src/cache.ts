import { unavailable } from '@slipway/domain'
import type { Logger } from '@slipway/runtime'
import { Redis } from 'ioredis'

export interface Cache {
  /**
   * Sends commands to Redis.
   * @throws Problem SERVICE_UNAVAILABLE when it does not answer
   */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>
  isUp(): Promise<boolean>
  close(): Promise<void>
}

const COMMAND_MS = 2_000
const RECONNECT_CAP_MS = 3_000

/** Connects to Redis and comes back by itself. While it is away commands fail at once instead of waiting for it. */
export function connectCache(url: string, logger: Logger): Cache {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    commandTimeout: COMMAND_MS,
    connectTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 10), RECONNECT_CAP_MS),
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

  return {
    async run(work) {
      try {
        return await work(redis)
      } catch (error) {
        logger.error('a command to Redis failed', { error })
        throw unavailable('The cache cannot be reached; try again')
      }
    },
    async isUp() {
      if (redis.status !== 'ready') return false
      return (await redis.ping()) === 'PONG'
    },
    async close() {
      redis.disconnect()
    },
  }
}
