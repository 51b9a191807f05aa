import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { COUNTED_HEADER, connectLimits, countedMark, createGeneralLimit, type LimitsRedis } from '@slipway/http/limits'
import { KeyRing } from '@slipway/runtime'
import {
  type OpenTestDatabase,
  openTestDatabase,
  redisUrlOf,
  startTcpProxy,
  type TcpProxy,
  testLogger,
  testNamespace,
  waitFor,
} from '@slipway/testing'
import { numbered, TestDeployment } from './deployment.ts'
import { startStreams, TEST_KEYS, type TestStreams } from './setup.ts'

/** So slow that the bucket does not refill during a test. */
const FIVE = { rps: 0.001, burst: 5 }
/** A busy machine may need longer than a service waits for Redis before it limits by itself, or closes the connection. */
const ANSWER_MS = 60_000
const PATH = '/api/v1/sse/deployments?sse_token=nonsense'

let db: OpenTestDatabase
let streams: TestStreams
let proxy: TcpProxy
let redis: LimitsRedis
let gatewayRedis: LimitsRedis
const namespace = testNamespace()
const limitOf = (connection: LimitsRedis) =>
  createGeneralLimit({
    redis: connection,
    namespace,
    rate: () => FIVE,
    logger: { ...testLogger, warn() {} },
    answerMs: ANSWER_MS,
  })
const connect = async (url: string) => {
  const connection = connectLimits(url, testLogger, { silenceMs: ANSWER_MS })
  await waitFor(() => connection.status === 'ready', { what: 'Redis' })
  return connection
}

beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db?.drop())
beforeEach(async () => {
  proxy = await startTcpProxy(redisUrlOf('log-stream'))
  redis = await connect(proxy.url)
  gatewayRedis = await connect(redisUrlOf('gateway'))
  streams = await startStreams({ database: db.database, rateLimit: limitOf(redis) })
  await waitFor(async () => (await get(newAddress())).status === 401, { what: 'tokens to be checked' })
})
afterEach(async () => {
  redis.disconnect()
  gatewayRedis.disconnect()
  await streams?.close()
  await proxy.close()
})

let addresses = 0
/** An address that no other test uses. */
const newAddress = () => `203.0.113.${++addresses}`
const get = (address: string, headers: Record<string, string> = {}, path = PATH) =>
  fetch(`${streams.url}${path}`, { headers: { 'X-Forwarded-For': address, ...headers } })
async function statuses(address: string, count: number, headers?: Record<string, string>, path?: string) {
  const all: number[] = []
  for (let n = 0; n < count; n++) all.push((await get(address, headers, path)).status)
  return all
}

describe('the general limit', () => {
  test('refuses requests over the burst in plain text, and only from that address', async () => {
    const address = newAddress()
    expect(await statuses(address, 5)).toEqual(Array(5).fill(401))
    const flood = await get(address)
    expect(flood.status).toBe(429)
    expect(await flood.text()).toMatch(/^Too many requests/)
    expect(flood.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(flood.headers.get('retry-after')).toBe('1')
    expect(flood.headers.get('x-ratelimit-remaining')).toBe('0')
    expect((await get(newAddress())).status).toBe(401)
  })

  test('is checked first: unknown routes and methods count, and a refused request uses up no token', async () => {
    const deployment = await TestDeployment.create(db.database)
    await deployment.commit({ lines: numbered(0, 1) })
    await deployment.end('success')
    const address = newAddress()
    const path = `/api/v1/deployments/${deployment.id}/logs?sse_token=${await streams.token()}`
    expect(await statuses(address, 5, {}, '/nothing')).toEqual(Array(5).fill(404))
    expect((await get(address, {}, path)).status).toBe(429)
    expect((await get(newAddress(), {}, path)).status).toBe(200)
  })

  test('shares its bucket with the gateway', async () => {
    const address = newAddress()
    const gateway = limitOf(gatewayRedis)
    for (let n = 0; n < 3; n++) expect(await gateway.admits(address)).toBe(true)
    expect(await statuses(address, 3)).toEqual([401, 401, 429])
    expect(await gateway.admits(address)).toBe(false)
  })

  test('counts within this service while Redis is away', async () => {
    proxy.refuse(true)
    expect(await statuses(newAddress(), 6)).toEqual([401, 401, 401, 401, 401, 429])
  })
})

describe('a request that the gateway has counted', () => {
  const counted = (path = PATH, keys = TEST_KEYS) => ({ [COUNTED_HEADER]: countedMark(keys, path) })

  test('is not counted again', async () => {
    const address = newAddress()
    expect(await statuses(address, 12, counted())).toEqual(Array(12).fill(401))
    expect(await statuses(address, 6)).toEqual([401, 401, 401, 401, 401, 429])
    expect((await get(address, counted())).status).toBe(401)
  })

  test('cannot be forged by a client', async () => {
    const otherKeys = KeyRing.parse(`test:${Buffer.alloc(32, 1).toString('base64')}`)
    const forged = [
      counted('/api/v1/sse/targets?sse_token=nonsense')[COUNTED_HEADER],
      counted(PATH, otherKeys)[COUNTED_HEADER],
      `${TEST_KEYS.currentKeyId}.`,
      `.${counted()[COUNTED_HEADER]}`,
      'unknown.x',
      'true',
      '',
    ]
    const address = newAddress()
    const answers: number[] = []
    for (const mark of forged) answers.push((await get(address, { [COUNTED_HEADER]: mark ?? '' })).status)
    expect(answers).toEqual([401, 401, 401, 401, 401, 429, 429])
  })
})
