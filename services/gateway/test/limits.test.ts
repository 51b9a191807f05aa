import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type AddressRange, parseRange } from '@slipway/http'
import { connectLimits, createLimits, type LimitSettings, type LimitsRedis, type Rate } from '@slipway/http/limits'
import { bucketKey, exchangeKey } from '@slipway/runtime/redis'
import { redisUrlOf, startTcpProxy, startTokenIssuer, type TcpProxy, waitFor } from '@slipway/testing'
import request from 'supertest'
import { createGateway, type Gateway } from '../src/gateway.ts'
import { ADMIN, clientOf, logger, refusal, refused, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

const LOOPBACK = ['127.0.0.0/8', '::1'].map((text) => parseRange(text) as AddressRange)
/** So slow that the bucket does not refill during a test. */
const FIVE: Rate = { rps: 0.001, burst: 5 }
const LOCKOUT_SECONDS = 900
/** A busy machine may need longer than a replica waits for Redis before it limits by itself, or closes the connection. */
const ANSWER_MS = 60_000

let whole: TestGateway
beforeAll(async () => {
  whole = await startGateway()
})
afterAll(() => whole.close())

let proxy: TcpProxy
let opened: LimitsRedis[] = []
let addresses = 0
let heard: string[] = []
beforeEach(async () => {
  proxy = await startTcpProxy(redisUrlOf('gateway'))
  heard = []
})
afterEach(async () => {
  for (const redis of opened) redis.disconnect()
  opened = []
  await proxy.close()
})

/** An address that no other test uses. */
const newAddress = () => `203.0.113.${++addresses}`

/** A replica that shares the database and Redis with the others and trusts X-Forwarded-For of the tests. */
async function replica(
  settings: Partial<LimitSettings> = {},
  { redisUrl = redisUrlOf('gateway'), answerMs = ANSWER_MS }: { redisUrl?: string; answerMs?: number } = {},
): Promise<Gateway> {
  const hear = (message: string) => void heard.push(message)
  const listening = { ...logger, warn: hear, info: hear, error: hear }
  const redis = connectLimits(redisUrl, listening, answerMs === ANSWER_MS ? { silenceMs: ANSWER_MS } : {})
  opened.push(redis)
  await waitFor(() => redis.status === 'ready', { what: 'Redis' })
  const limits = createLimits({
    redis,
    namespace: whole.namespace,
    logger: listening,
    answerMs,
    settings: {
      trustedProxies: LOOPBACK,
      rate: () => FIVE,
      loginAttemptsPerMinute: () => 5,
      loginLockoutSeconds: LOCKOUT_SECONDS,
      ...settings,
    },
  })
  return createGateway({ ...whole.dependencies, limits, trustedProxies: LOOPBACK })
}

const get = (gateway: Gateway, address: string, path = '/api/v1/openapi.json') =>
  request(gateway.app).get(path).set('X-Forwarded-For', address)

/** Sends `count` requests one after the other and returns their statuses. */
async function statuses(gateway: Gateway, address: string, count: number, path?: string): Promise<number[]> {
  const all: number[] = []
  for (let n = 0; n < count; n++) all.push((await get(gateway, address, path)).status)
  return all
}

describe('the general limit', () => {
  test('refuses requests over the burst in plain text, and only from that address', async () => {
    const gateway = await replica()
    const [one, other] = [newAddress(), newAddress()]
    expect(await statuses(gateway, one, 5)).toEqual([200, 200, 200, 200, 200])
    const response = await get(gateway, one).set('X-Request-Id', 'flood-1')
    expect(response.status).toBe(429)
    expect(response.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/plain/),
      'retry-after': '1',
      'x-ratelimit-remaining': '0',
      'x-request-id': 'flood-1',
    })
    expect(response.text).toMatch(/^Too many requests/)
    expect((await get(gateway, other)).status).toBe(200)
  })

  test('applies across replicas, also to concurrent requests', async () => {
    const [one, two] = [await replica(), await replica()]
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => get(n % 2 === 0 ? one : two, address)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(35)
    expect((await get(two, address)).status).toBe(429)
  })

  test('is checked first: unknown paths, streams and refused requests count', async () => {
    const gateway = await replica()
    const address = newAddress()
    const paths = ['/nothing', '/api/v1/nothing', `/api/v1/deployments/${UNKNOWN_ID}/logs?sse_token=x`, '/docs/nothing']
    for (const path of paths) expect((await get(gateway, address, path)).status).not.toBe(429)
    expect((await get(gateway, address, '/api/v1/deployments')).status).toBe(401)
    expect((await get(gateway, address, '/nothing')).status).toBe(429)
    const post = request(gateway.app).post('/api/v1/health').set('X-Forwarded-For', address)
    expect((await post).status).toBe(429)
  })

  test('does not apply to health checks', async () => {
    const gateway = await replica()
    const address = newAddress()
    const ready = await statuses(gateway, address, 8, '/api/v1/health/ready')
    expect([...ready, ...(await statuses(gateway, address, 8, '/api/v1/health'))]).not.toContain(429)
    expect(await statuses(gateway, address, 6)).toEqual([200, 200, 200, 200, 200, 429])
    expect((await get(gateway, address, '/api/v1/health?x=1')).status).toBe(400)
  })

  test('counts an IPv6 network of 64 bits as one address', async () => {
    const gateway = await replica()
    expect(await statuses(gateway, '2001:db8:0:1::1', 5)).not.toContain(429)
    expect((await get(gateway, '2001:db8:0:1:ffff::2')).status).toBe(429)
    expect((await get(gateway, '2001:db8:0:2::1')).status).toBe(200)
  })

  test('can differ by address or be disabled for one', async () => {
    const [strict, free] = [newAddress(), newAddress()]
    const rate = (address: string) => (address === free ? null : { ...FIVE, burst: 2 })
    const gateway = await replica({ rate })
    expect(await statuses(gateway, strict, 3)).toEqual([200, 200, 429])
    expect(await statuses(gateway, free, 12)).not.toContain(429)
  })

  test('accepts requests again as the bucket refills', async () => {
    const gateway = await replica({ rate: () => ({ rps: 5, burst: 1 }) })
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(gateway, address)))
    expect(answers.map(({ status }) => status)).toContain(429)
    await waitFor(async () => (await get(gateway, address)).status === 200, { what: 'a place in the bucket' })
  })

  test('leaves only keys with an expiry in Redis', async () => {
    const gateway = await replica({ rate: () => ({ rps: 10, burst: 100 }) })
    const address = newAddress()
    await get(gateway, address)
    const { redis } = whole
    const ttl = await redis.pttl(bucketKey(whole.namespace, address))
    // The key expires or has expired. -1 means that the key never expires.
    expect(ttl).not.toBe(-1)
    expect(ttl).toBeLessThanOrEqual(100)
  })
})

describe('while Redis is away', () => {
  const SHARED_AGAIN = 'the rate limit is shared with the other replicas again'
  const BY_ITSELF = /this replica limits requests by itself/

  test('each replica limits by itself, and shares the limit again afterwards', async () => {
    const gateway = await replica({}, { redisUrl: proxy.url })
    const [before, meanwhile, after] = [newAddress(), newAddress(), newAddress()]
    expect(await statuses(gateway, before, 6)).toEqual([200, 200, 200, 200, 200, 429])
    proxy.refuse(true)
    expect(await statuses(gateway, meanwhile, 7)).toEqual([200, 200, 200, 200, 200, 429, 429])
    // The message is logged once, not for each request.
    expect(heard.filter((message) => BY_ITSELF.test(message))).toHaveLength(1)
    proxy.refuse(false)
    await waitFor(
      async () => {
        await get(gateway, newAddress())
        return heard.includes(SHARED_AGAIN)
      },
      { what: 'the shared limit' },
    )
    const other = await replica()
    expect(await statuses(gateway, after, 3)).toEqual([200, 200, 200])
    expect(await statuses(other, after, 3)).toEqual([200, 200, 429])
  })

  test('a Redis that does not answer counts as unavailable', async () => {
    const gateway = await replica({}, { redisUrl: proxy.url, answerMs: 100 })
    const address = newAddress()
    proxy.freeze()
    expect(await statuses(gateway, address, 6)).toEqual([200, 200, 200, 200, 200, 429])
    expect(heard.filter((message) => BY_ITSELF.test(message))).toHaveLength(1)
    proxy.resume()
    await waitFor(
      async () => {
        await get(gateway, newAddress())
        return heard.includes(SHARED_AGAIN)
      },
      { what: 'the shared limit' },
    )
  })

  test('logins are refused', async () => {
    const gateway = await replica({}, { redisUrl: proxy.url })
    proxy.refuse(true)
    const response = await logIn(gateway, newAddress())
    expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
  })
})

const logIn = (gateway: Gateway, address: string, body: object = { ...ADMIN, password: 'wrong' }) =>
  request(gateway.app).post('/api/v1/auth/login').set('X-Forwarded-For', address).send(body)

describe('the limit on logins', () => {
  const UNLIMITED = { rate: () => null }
  const LOGIN_ROUTES = ['/api/v1/auth/login', '/api/v1/auth/2fa/verify']

  /** Attempts without a password count and need no hashing. Their status is 400, or 429 over the limit. */
  const attempts = (gateway: Gateway, address: string, count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await logIn(gateway, address, {})).status))

  test('locks an address out at the sixth attempt in a minute, on all replicas and both routes', async () => {
    const [one, two] = [await replica(UNLIMITED), await replica(UNLIMITED)]
    const address = newAddress()
    expect((await logIn(one, address, ADMIN)).status).toBe(200)
    expect((await logIn(two, address)).status).toBe(401)
    expect(await attempts(two, address, 3)).toEqual([400, 400, 400])
    const sixth = await logIn(one, address, ADMIN)
    expect(sixth.status).toBe(429)
    expect(sixth.body).toEqual({
      error: {
        code: 'AUTH_RATE_LIMIT_EXCEEDED',
        message: expect.any(String),
        retry_after_secs: LOCKOUT_SECONDS,
        reason: expect.any(String),
      },
    })
    expect(sixth.headers).toMatchObject({
      'retry-after': String(LOCKOUT_SECONDS),
      'x-ratelimit-remaining': '0',
      'content-type': expect.stringMatching(/^application\/json/),
    })
    for (const route of LOGIN_ROUTES) {
      const response = await request(two.app).post(route).set('X-Forwarded-For', address).send({})
      expect({ route, ...refusal(response) }).toEqual({ route, ...refused(429, 'AUTH_RATE_LIMIT_EXCEEDED') })
      expect(response.body.error.retry_after_secs).toBeLessThanOrEqual(LOCKOUT_SECONDS)
    }
  })

  test('does not affect other addresses, existing sessions or refreshes', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    await attempts(gateway, address, 6)
    expect((await logIn(gateway, newAddress(), ADMIN)).status).toBe(200)
    const me = get(gateway, address, '/api/v1/auth/me').set('Authorization', `Bearer ${whole.adminToken}`)
    expect((await me).status).toBe(200)
    const refresh = request(gateway.app).post('/api/v1/auth/refresh').set('X-Forwarded-For', address)
    expect((await refresh).status).toBe(401)
  })

  test('admits five of a hundred concurrent attempts', async () => {
    const [one, two] = [await replica(UNLIMITED), await replica(UNLIMITED)]
    const address = newAddress()
    const [a, b] = await Promise.all([attempts(one, address, 50), attempts(two, address, 50)])
    expect([...a, ...b].filter((status) => status !== 429)).toHaveLength(5)
  })

  test('is checked before the body is read, and counts malformed bodies', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    const send = () =>
      request(gateway.app).post('/api/v1/auth/login').set('X-Forwarded-For', address).type('json').send('{')
    for (let n = 0; n < 5; n++) expect(refusal(await send())).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await send())).toEqual(refused(429, 'AUTH_RATE_LIMIT_EXCEEDED'))
  })

  test('no longer counts attempts after a minute', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    await attempts(gateway, address, 5)
    const { redis } = whole
    const key = `${whole.namespace}:login:{${address}}:attempts`
    const times = await redis.lrange(key, 0, -1)
    expect(times).toHaveLength(5)
    // The two earliest attempts were more than a minute ago.
    for (const index of [3, 4]) await redis.lset(key, index, String(Number(times[index]) - 60_001))
    expect(await attempts(gateway, address, 2)).toEqual([400, 400])
    expect(await attempts(gateway, address, 1)).toEqual([429])
  })

  test('ends the lockout after its time and counts from zero', async () => {
    const gateway = await replica({ ...UNLIMITED, loginLockoutSeconds: 1 })
    const address = newAddress()
    await attempts(gateway, address, 5)
    expect((await logIn(gateway, address)).status).toBe(429)
    await waitFor(async () => (await logIn(gateway, address)).status === 401, { what: 'the end of the lockout' })
    expect(await attempts(gateway, address, 4)).not.toContain(429)
  })

  test('can differ by address or be disabled for one', async () => {
    const [strict, free] = [newAddress(), newAddress()]
    const loginAttemptsPerMinute = (address: string) => (address === free ? null : 1)
    const gateway = await replica({ ...UNLIMITED, loginAttemptsPerMinute })
    expect(await attempts(gateway, free, 8)).not.toContain(429)
    expect((await logIn(gateway, strict)).status).toBe(401)
    expect((await logIn(gateway, strict)).status).toBe(429)
  })

  test('writes no audit record for refused attempts', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    await attempts(gateway, address, 9)
    const { rows } = await whole.database.query(
      `SELECT count(*)::int AS records FROM audit_records WHERE actor_ip = $1 AND action = 'auth.login'`,
      [address],
    )
    expect(rows).toEqual([{ records: 5 }])
  })
})

describe('the limit on refused exchanges of tokens', () => {
  const UNLIMITED = { rate: () => null }
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: 'x',
    service_account: 'pipeline',
  }
  const send = (gateway: Gateway, address: string, more: object = {}) =>
    request(gateway.app)
      .post('/api/v1/auth/token')
      .set('X-Forwarded-For', address)
      .send({ ...body, ...more })
  const burst = async (gateways: Gateway[], address: string, count: number) => {
    const calls = Array.from({ length: count }, (_, n) => send(gateways[n % gateways.length] as Gateway, address))
    return (await Promise.all(calls)).map(({ status }) => status)
  }

  test('admits 30 a minute of an address on all replicas, also of concurrent ones', async () => {
    const gateways = [await replica(UNLIMITED), await replica(UNLIMITED)]
    const address = newAddress()
    const statuses = await burst(gateways, address, 50)
    expect([statuses.filter((one) => one === 401).length, statuses.filter((one) => one === 429).length]).toEqual([
      30, 20,
    ])
    const further = await send(gateways[0] as Gateway, address)
    expect(refusal(further)).toEqual(refused(429, 'AUTH_RATE_LIMIT_EXCEEDED'))
    expect(further.body.error.retry_after_secs).toBeLessThanOrEqual(60)
    expect((await send(gateways[0] as Gateway, newAddress())).status).toBe(401)
    const { rows } = await whole.database.query(
      `SELECT count(*)::int AS records FROM audit_records WHERE actor_ip = $1 AND action = 'auth.token_exchange'`,
      [address],
    )
    expect(rows).toEqual([{ records: 30 }])
    const redis = await whole.redis.pttl(exchangeKey(whole.namespace, address))
    expect(redis).toBeGreaterThan(0)
  })

  test('is not kept while Redis is away, so pipelines go on', async () => {
    const gateway = await replica(UNLIMITED, { redisUrl: proxy.url })
    proxy.refuse(true)
    expect((await send(gateway, newAddress())).status).toBe(401)
    expect(heard).toContain('Redis does not count refused exchanges of tokens, so they have no limit of their own')
  })

  test('is apart from the limit on logins, and counts malformed bodies, too', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    expect(await burst([gateway], address, 31)).toContain(429)
    expect((await logIn(gateway, address, ADMIN)).status).toBe(200)
    const other = newAddress()
    for (let n = 0; n < 30; n++) expect((await send(gateway, other, { grant_type: 'x' })).status).toBe(400)
    expect((await send(gateway, other)).status).toBe(429)
  })

  test('does not count exchanges that succeed', async () => {
    const gateway = await replica(UNLIMITED)
    const address = newAddress()
    const issuer = await startTokenIssuer()
    const admin = clientOf(whole, whole.adminToken)
    const account = { kind: 'service', username: 'pipeline', roles: [] }
    const { id } = (await admin.send('createUser', '/admin/users', account)).body
    const trust = { name: 'main', issuer: issuer.url, audience: 'slipway', claims: { sub: 'job' } }
    await admin.send('createTrust', `/admin/users/${id}/trusts`, trust)
    const tokens = await Promise.all(Array.from({ length: 40 }, () => issuer.token({ aud: 'slipway', sub: 'job' })))
    const answers = await Promise.all(tokens.map((subject_token) => send(gateway, address, { subject_token })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    issuer.close()
  })
})

describe('the limit on logins with a provider', () => {
  const WIDE = { rate: () => ({ rps: 10_000, burst: 100_000 }) }
  const step = (gateway: Gateway, address: string, name: string) =>
    request(gateway.app).get(`/api/v1/auth/oidc/none/${name}`).set('X-Forwarded-For', address)

  test('counts all steps of an address on all replicas, apart from other limits', async () => {
    const gateways = [await replica(WIDE), await replica(WIDE)]
    const address = newAddress()
    const steps = [
      (gateway: Gateway) => step(gateway, address, 'start'),
      (gateway: Gateway) => step(gateway, address, 'callback'),
      // Counts before its body is read.
      ({ app }: Gateway) =>
        request(app).post('/api/v1/auth/cli-token').set('X-Forwarded-For', address).send({ code: 'x' }),
    ]
    const bursts = await Promise.all(
      steps.map((one) => Promise.all(Array.from({ length: 160 }, (_, n) => one(gateways[n % 2] as Gateway)))),
    )
    const admitted = bursts.flat().filter(({ status }) => status !== 429)
    expect(admitted.length).toBeGreaterThanOrEqual(120)
    for (const answers of bursts) {
      const refusedOnes = answers.filter(({ status }) => status === 429)
      expect(refusedOnes.map(refusal)[0]).toEqual(refused(429, 'AUTH_RATE_LIMIT_EXCEEDED'))
    }
    expect((await step(gateways[0] as Gateway, newAddress(), 'start')).status).toBe(404)
    expect((await get(gateways[0] as Gateway, address)).status).toBe(200)
    const { body } = await request((gateways[0] as Gateway).app)
      .post('/api/v1/auth/login')
      .set('X-Forwarded-For', address)
      .send({ email: ADMIN.email, password: 'a-password-that-is-wrong' })
    expect(body.error?.code).toBe('INVALID_CREDENTIALS')
  })
})
