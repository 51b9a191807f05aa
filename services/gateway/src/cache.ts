import { unavailable } from '@slipway/domain'
import type { Logger } from '@slipway/runtime'
import { connectRedis, isRedisUp, type Redis, type RedisConnectionOptions } from '@slipway/runtime/redis'

export interface Cache {
  /**
   * Sends commands to Redis.
   * @throws Problem SERVICE_UNAVAILABLE if Redis does not answer
   */
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>
  isUp(): Promise<boolean>
  close(): Promise<void>
}

/** Connects to Redis, again after each loss. Without a connection, commands fail at once. */
export function connectCache(
  url: string,
  logger: Logger,
  options: Pick<RedisConnectionOptions, 'silenceMs'> = {},
): Cache {
  const redis = connectRedis({ url, name: 'cache', logger, ...options })

  return {
    async run(work) {
      try {
        return await work(redis)
      } catch (error) {
        logger.error('a command to Redis failed', { error })
        throw unavailable('The cache cannot be reached; try again')
      }
    },
    isUp: () => isRedisUp(redis),
    async close() {
      redis.disconnect()
    },
  }
}
