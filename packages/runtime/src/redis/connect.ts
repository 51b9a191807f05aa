import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../logger.ts'
import { DEFAULT_USER } from './users/users.ts'

const CONNECT_MS = 2_000
/** A connection is closed when a command on it gets no answer for this long. */
const SILENCE_MS = 2_000
const RECONNECT_BASE_MS = 100
const RECONNECT_CAP_MS = 3_000

export interface RedisConnectionOptions {
  url: string
  /** What the connection is for, in log lines. */
  name: string
  logger: Logger
  /** For commands that block: longer than they do. */
  silenceMs?: number
  /** Commands that take longer fail, and the connection stays as it is. */
  commandMs?: number
  /** Lua scripts that become commands. */
  scripts?: NonNullable<RedisOptions['scripts']>
}

/**
 * Connects to Redis and comes back by itself. While Redis is away, commands fail at once.
 *
 * A half-open connection, whose server side is gone, is closed when its next command gets no answer. `commandTimeout` alone
 * would fail each command and never close the connection.
 */
export function connectRedis(options: RedisConnectionOptions): Redis {
  const { url, name, logger, silenceMs = SILENCE_MS, commandMs, scripts } = options
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    connectTimeout: CONNECT_MS,
    socketTimeout: silenceMs,
    maxRetriesPerRequest: 0,
    // CLIENT SETINFO is refused to the users of the services, and Redis logs each refusal.
    disableClientInfo: true,
    retryStrategy: (attempt) => Math.min(RECONNECT_BASE_MS * 2 ** Math.min(attempt, 10), RECONNECT_CAP_MS),
    ...(commandMs === undefined ? {} : { commandTimeout: commandMs }),
    ...(scripts === undefined ? {} : { scripts }),
  })
  let isReported = false
  redis.on('ready', () => {
    isReported = false
    logger.info('connected to Redis', { connection: name })
  })
  redis.on('error', (error) => {
    if (!isReported) logger.warn('Redis cannot be reached, trying again', { connection: name, error })
    isReported = true
  })
  return redis
}

/** Whether Redis answers. It may take as long as the silence that closes a connection. */
export async function isRedisUp(redis: Redis): Promise<boolean> {
  return redis.status === 'ready' && (await redis.ping()) === 'PONG'
}

/** Warns once if the user of this connection is the one that may do everything: a service then reaches the keys of the others. */
export function warnOfDefaultUser(redis: Redis, logger: Logger): void {
  redis.once('ready', () => {
    redis.acl('WHOAMI').then(
      (user) => {
        if (user !== DEFAULT_USER) return
        logger.warn(
          'the user of REDIS_URL may use all keys and commands: give this process the user of its service, ' +
            'see "Users of Redis" in docs/operations.md',
        )
      },
      // A server that has no users, or hides them.
      () => {},
    )
  })
}
