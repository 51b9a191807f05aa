import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { serverUrl, startTcpProxy, type TcpProxy, testLogger, waitFor } from '@slipway/testing'
import { connectRedis, isRedisUp, type Redis, type RedisConnectionOptions } from '../src/redis/index.ts'

/** The bound is a second or two. Without it, the operating system ends the connection after minutes. */
const BOUND_SECONDS = 20
const READY_AGAIN_MS = 30_000

let proxy: TcpProxy
let redis: Redis

beforeEach(async () => {
  proxy = await startTcpProxy(serverUrl('REDIS_URL'))
})
afterEach(async () => {
  redis.disconnect()
  await proxy.close()
})

async function connect(options: Partial<RedisConnectionOptions> = {}) {
  redis = connectRedis({ url: proxy.url, name: 'test', logger: testLogger, ...options })
  await waitFor(() => isRedisUp(redis), { what: 'Redis' })
}

const secondsOf = async (work: Promise<unknown>) => {
  const began = performance.now()
  await expect(work).rejects.toThrow()
  return (performance.now() - began) / 1_000
}

test.each([
  ['with a timeout for each command', 500],
  ['without a timeout', undefined],
])('a half-open connection is closed and replaced: %s', async (_, commandMs) => {
  await connect(commandMs === undefined ? {} : { commandMs })
  proxy.strand()
  expect(await secondsOf(redis.get('key'))).toBeLessThan(BOUND_SECONDS)
  await waitFor(() => isRedisUp(redis).catch(() => false), { timeoutMs: READY_AGAIN_MS, what: 'Redis again' })
  expect(await redis.get(`slipway test ${process.pid}`)).toBeNull()
})

test('a server that was unreachable is used again within seconds of its return', async () => {
  await connect()
  proxy.freeze()
  expect(await secondsOf(redis.get('key'))).toBeLessThan(BOUND_SECONDS)
  await sleep(8_000)
  expect(await secondsOf(redis.get('key'))).toBeLessThan(BOUND_SECONDS)
  proxy.strand()
  proxy.resume()
  await waitFor(() => isRedisUp(redis).catch(() => false), { timeoutMs: READY_AGAIN_MS, what: 'Redis again' })
})

test('a blocking command does not count as a silent server', async () => {
  await connect({ silenceMs: 3_000 })
  const ended: string[] = []
  redis.on('close', () => ended.push('closed'))
  for (let n = 0; n < 3; n += 1) {
    expect(await redis.xread('BLOCK', 1_500, 'STREAMS', `slipway-test-${process.pid}`, '$')).toBeNull()
  }
  await sleep(100)
  expect(ended).toEqual([])
})
