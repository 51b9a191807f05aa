import type { Logger } from '@slipway/runtime'
import { connectRedis, type Redis, type RedisConnectionOptions } from '@slipway/runtime/redis'

/** Takes one request from the bucket of KEYS[1]. ARGV: requests a second, burst. Returns microseconds to wait; 0 passes. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = math.max(1, math.floor(1000000 / tonumber(ARGV[1])))
local capacity = interval * tonumber(ARGV[2])
local full = tonumber(redis.call('GET', KEYS[1]) or '0')
local present = math.min(math.max(full, now), now + capacity)
local next = present + interval
local wait = next - now - capacity
if wait > 0 then return wait end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return 0
`

/**
 * Counts an attempt. KEYS: times of the latest attempts, the lock. ARGV: attempts a minute, seconds of the lock.
 * Returns the milliseconds for which the address is locked out; 0: the attempt is allowed.
 */
const ATTEMPT = `
local locked = redis.call('PTTL', KEYS[2])
if locked > 0 then return locked end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local allowed = tonumber(ARGV[1])
local earliest = tonumber(redis.call('LINDEX', KEYS[1], allowed - 1) or '-1')
if earliest >= 0 and math.abs(now - earliest) < 60000 then
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2] * 1000)
  return ARGV[2] * 1000
end
redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
redis.call('LTRIM', KEYS[1], 0, allowed - 1)
redis.call('PEXPIRE', KEYS[1], 60000)
return 0
`

/**
 * Counts a failure, or only looks. KEYS: times of the latest failures. ARGV: failures a minute, 1 to count one.
 * Returns the milliseconds until another failure is allowed; 0: it is allowed.
 */
const FAILURE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local allowed = tonumber(ARGV[1])
local earliest = tonumber(redis.call('LINDEX', KEYS[1], allowed - 1) or '-1')
local passed = math.abs(now - earliest)
if earliest >= 0 and passed < 60000 then return 60000 - passed end
if ARGV[2] == '1' then
  redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('LTRIM', KEYS[1], 0, allowed - 1)
  redis.call('PEXPIRE', KEYS[1], 60000)
end
return 0
`

export interface LimitsRedis extends Redis {
  takeFromBucket(key: string, rps: number, burst: number): Promise<number>
  countAttempt(attempts: string, lock: string, allowed: number, lockSeconds: number): Promise<number>
  countFailure(failures: string, allowed: number, count: 0 | 1): Promise<number>
}

/** A separate connection, because limits must not wait for slower commands. Without Redis, commands fail at once. */
export function connectLimits(
  url: string,
  logger: Logger,
  options: Pick<RedisConnectionOptions, 'silenceMs'> = {},
): LimitsRedis {
  const scripts = {
    takeFromBucket: { lua: TAKE, numberOfKeys: 1 },
    countAttempt: { lua: ATTEMPT, numberOfKeys: 2 },
    countFailure: { lua: FAILURE, numberOfKeys: 1 },
  }
  return connectRedis({ url, name: 'limits', logger, scripts, ...options }) as LimitsRedis
}
