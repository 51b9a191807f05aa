import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation } from '@slipway/contracts'
import { createDatabase } from '@slipway/database'
import request from 'supertest'
import { createGateway } from '../src/gateway.ts'
import {
  addUser,
  clientOf,
  expectAnswer,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const api = () => request(gateway.app)
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const asAdmin = () => bearer(gateway.adminToken)

describe('routes', () => {
  test('an unknown route is 404 and a wrong method 405 with Allow, both without a token', async () => {
    expect(refusal(await api().get('/api/v1/nothing'))).toEqual(refused(404, 'NOT_FOUND'))
    expect(refusal(await api().get('/api/v1/deployments/'))).toEqual(refused(404, 'NOT_FOUND'))
    const response = await api().put('/api/v1/deployments')
    expect(refusal(response)).toEqual(refused(405, 'METHOD_NOT_ALLOWED'))
    expect(response.headers['allow']?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  })

  test('a literal path segment is never read as an id', async () => {
    expect(refusal(await api().get('/api/v1/deployments/preview'))).toEqual(refused(405, 'METHOD_NOT_ALLOWED'))
    expect(refusal(await api().post('/api/v1/deployments/pending'))).toEqual(refused(405, 'METHOD_NOT_ALLOWED'))
  })

  test('every operation that is not public requires a token', async () => {
    for (const { method, path, access } of Object.values(OPERATIONS) as Operation[]) {
      if (access === 'public' || access === 'sse') continue
      const url = `/api/v1${path.replaceAll(/\{\w+\}/g, UNKNOWN_ID)}`
      const response = await api()[method.toLowerCase() as 'get' | 'post' | 'delete'](url)
      expect({ url, ...refusal(response) }).toEqual({ url, ...refused(401, 'MISSING_AUTH_HEADER') })
    }
  })

  test('a malformed escape sequence in a path is an unknown id', async () => {
    const response = await api().get('/api/v1/deployments/%E0%A4%A').set(asAdmin())
    expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
  })

  test('health, readiness and the OpenAPI document need no token, and the server info needs one', async () => {
    expectAnswer('getHealth', await api().get('/api/v1/health'))
    expectAnswer('getReadiness', await api().get('/api/v1/health/ready'))
    const { body } = await api().get('/api/v1/openapi.json')
    expect(Object.keys(body.paths)).toContain('/api/v1/deployments/{id}')
    expectAnswer('getServerInfo', await api().get('/api/v1/server/info').set(asAdmin()))
  })
})

describe('the order of checks', () => {
  const post = () => api().post('/api/v1/targets')

  test('authentication is checked before the body', async () => {
    const response = await post()
      .set('Content-Type', 'text/plain')
      .send('x'.repeat(1024 * 1024 + 1))
    expect(refusal(response)).toEqual(refused(401, 'MISSING_AUTH_HEADER'))
  })

  test('size, media type, JSON, permission, validation and existence are checked in this order', async () => {
    const { token } = await addUser(gateway, { role: 'user' })
    const as = bearer(token)
    const large = await post()
      .set(as)
      .set('Content-Type', 'text/plain')
      .send('x'.repeat(1024 * 1024 + 1))
    expect(refusal(large)).toEqual(refused(413, 'PAYLOAD_TOO_LARGE'))
    const text = await post().set(as).set('Content-Type', 'text/plain').send('{')
    expect(refusal(text)).toEqual(refused(415, 'UNSUPPORTED_MEDIA_TYPE'))
    const broken = await post().set(as).set('Content-Type', 'application/json').send('{')
    expect(refusal(broken)).toEqual(refused(400, 'INVALID_BODY'))
    const forbidden = await post().set(as).send({ nonsense: true })
    expect(refusal(forbidden)).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    const invalid = await post()
      .set(asAdmin())
      .send({ name: 't', connection: { type: 'x' }, environment_id: UNKNOWN_ID })
    expect(refusal(invalid)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    const missing = await post()
      .set(asAdmin())
      .send({ name: 't', connection: { type: 'local' }, environment_id: UNKNOWN_ID })
    expect(refusal(missing)).toMatchObject(refused(404, 'NOT_FOUND'))
  })
})

describe('bodies', () => {
  const send = (body: string | Buffer, type = 'application/json') =>
    api()
      .post('/api/v1/tenants')
      .set(asAdmin())
      .set('Content-Type', type)
      .serialize((bytes) => bytes)
      .send(body)

  test('a body of 1 MiB is accepted, and one more byte is refused', async () => {
    const filled = (size: number) => `{"name":"${'x'.repeat(size - 11)}"}`
    expect(refusal(await send(filled(1024 * 1024)))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(refusal(await send(filled(1024 * 1024 + 1)))).toEqual(refused(413, 'PAYLOAD_TOO_LARGE'))
  })

  test('without an account a body has at most 16 KiB, and an answer names at most 100 problems', async () => {
    const login = (body: object) => api().post('/api/v1/auth/login').send(body)
    const filled = (size: number) => ({ username: 'x'.repeat(size - 15) })
    expect(refusal(await login(filled(16 * 1024)))).toMatchObject({ status: 400 })
    expect(refusal(await login(filled(16 * 1024 + 1)))).toEqual(refused(413, 'PAYLOAD_TOO_LARGE'))
    const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1]))
    const answer = await login(unknown)
    expect(answer.body.error.details.errors).toHaveLength(100)
    expect(answer.body.error.details.more).toBe(902)
  })

  test('a body with more than 50,000 fields and items is refused', async () => {
    const items = (count: number) => `{"tags":[${'1,'.repeat(count - 2)}1]}`
    expect(refusal(await send(items(49_999)))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(refusal(await send(items(50_001)))).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await send(`{"name":"${',[{\\"'.repeat(50_000)}"}`))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  })

  test('a body with more than 32 levels is refused', async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    expect(refusal(await send(nested(32)))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(refusal(await send(nested(33)))).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await send('['.repeat(100_000)))).toEqual(refused(400, 'INVALID_BODY'))
  })

  test('a body that is no JSON object in UTF-8 is refused', async () => {
    expect(refusal(await send(''))).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await api().post('/api/v1/tenants').set(asAdmin()))).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await send(Buffer.from([0x22, 0xff, 0x22])))).toEqual(refused(400, 'INVALID_BODY'))
    expect(refusal(await send('{}', 'application/json; charset=latin1'))).toEqual(
      refused(415, 'UNSUPPORTED_MEDIA_TYPE'),
    )
    for (const text of ['[]', '"x"', '1', 'null']) {
      const { status, body } = await send(text)
      expect({ text, status, path: body.error.details?.errors[0].path }).toEqual({ text, status: 400, path: '' })
    }
  })

  test('a body with charset=utf-8 is accepted', async () => {
    const response = await send('{"name":"Charset"}', 'application/json; charset="UTF-8"')
    expectAnswer('createTenant', response)
  })

  test('an optional body may be empty, with any media type', async () => {
    const response = await api().post('/api/v1/auth/sse-token').set(asAdmin())
    expectAnswer('createSseToken', response)
  })
})

describe('validation', () => {
  const admin = () => clientOf(gateway, gateway.adminToken)
  const errorsOf = (response: { body: { error: { details: { errors: { path: string }[] } } } }) =>
    response.body.error.details.errors.map(({ path }) => path).sort()

  test('all problems are reported at once, and unknown fields with their own path', async () => {
    const response = await admin().send('createTarget', '/targets?x=1', {
      name: ' blanks ',
      targets_ids: [],
      connection: { type: 'ssh', host: 'a b', port: 0 },
      variables: { 'not-a-name': 1 },
    })
    expect(refusal(response)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(errorsOf(response)).toEqual(
      expect.arrayContaining([
        'query/x',
        '/name',
        '/targets_ids',
        '/connection/host',
        '/connection/port',
        '/connection/username',
        '/variables/not-a-name',
      ]),
    )
  })

  test('MISSING_FIELD reports absent top-level fields, not null or nested fields', async () => {
    const login = (body: object) => api().post('/api/v1/auth/login').send(body)
    expect(refusal(await login({}))).toEqual(refused(400, 'MISSING_FIELD', { fields: ['email', 'password'] }))
    expect(refusal(await login({ email: 'a@b.c', password: null }))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(refusal(await login({ email: 'a@b.c', pasword: 'x' }))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    const nested = await admin().send('createTarget', '/targets', { name: 't', connection: { type: 'ssh' } })
    expect(refusal(nested)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  })

  test('a create reports which fields require another field', async () => {
    const create = (body: object) => admin().send('createDeployment', '/deployments', body)
    const whole = { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID] }
    expect(refusal(await create({ ...whole, override_freeze: true }))).toEqual(
      refused(400, 'MISSING_FIELD', { fields: ['override_reason'] }),
    )
    expect(refusal(await create({ ...whole, tenant_id: UNKNOWN_ID }))).toEqual(
      refused(400, 'MISSING_FIELD', { fields: ['environment_id'] }),
    )
  })

  test('text that Postgres cannot store is refused with its path', async () => {
    const response = await admin().send('createTenant', '/tenants', {
      name: 'nul',
      description: 'a\0b',
      variables: { deep: { er: ['\ud800'] } },
    })
    expect(errorsOf(response)).toEqual(['/description', '/variables/deep/er/0'])
    const search = await api().get('/api/v1/tenants?search=%00').set(asAdmin())
    expect(errorsOf(search)).toEqual(['query/search'])
  })

  test('a number that would change is refused with its path, and other spellings of a number are accepted', async () => {
    const create = (variables: string) =>
      api()
        .post('/api/v1/tenants')
        .set(asAdmin())
        .set('Content-Type', 'application/json')
        .send(`{"name":"numbers","variables":${variables}}`)
    const response = await create('{"id":1001234567890123457,"a":{"b":[1,1e400,0.1000000000000000055]},"tiny":1e-400}')
    expect(refusal(response)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
    expect(errorsOf(response)).toEqual(['/variables/a/b/1', '/variables/a/b/2', '/variables/id', '/variables/tiny'])
    expect(JSON.stringify(response.body)).not.toContain('1001234567890123457')
    const { body } = await create('{"a":1.0,"b":2.50,"c":7e3}')
    expect(body.variables).toEqual({ a: 1, b: 2.5, c: 7_000 })
  })

  test('a value in the form of a sealed value is refused', async () => {
    const response = await admin().send('createEnvironment', '/environments', {
      name: 'forged',
      variables: { a: { $sealed: 'v1.k.x' } },
    })
    expect(errorsOf(response)).toEqual(['/variables/a'])
  })

  test('a repeated or malformed query parameter is refused', async () => {
    for (const query of ['page=1&page=2', 'limit=', 'page=1.5', 'page=1e2', 'limit=x', 'sort=colour', 'search=']) {
      const response = await api().get(`/api/v1/actions?${query}`).set(asAdmin())
      expect({ query, ...refusal(response) }).toMatchObject({ query, ...refused(400, 'VALIDATION_ERROR') })
      expect(errorsOf(response)).toEqual([`query/${query.split('=')[0]}`])
    }
  })
})

describe('answers', () => {
  test('do not reveal the server software and may not be cached or framed', async () => {
    const { headers } = await api().get('/api/v1/health')
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['x-content-type-options']).toBe('nosniff')
  })
})

describe('tags of answers', () => {
  const read = (path: string, tag?: string, method: 'get' | 'head' = 'get') => {
    const call = api()[method](`/api/v1${path}`).set(asAdmin())
    return tag === undefined ? call : call.set('If-None-Match', tag)
  }

  test('a read with the tag of the present answer is 304 without body, and 200 after a change', async () => {
    const first = await read('/environments')
    const tag = first.headers['etag'] ?? ''
    expect(tag).toMatch(/^W\/"[\w-]+"$/)
    for (const given of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      for (const method of ['get', 'head'] as const) {
        const { status, text, headers } = await read('/environments', given, method)
        expect({ given, status, text: text ?? '' }).toEqual({ given, status: 304, text: '' })
        expect(headers).toMatchObject({ etag: tag, 'cache-control': 'no-store', 'x-request-id': expect.any(String) })
      }
    }
    await clientOf(gateway, gateway.adminToken).send('createEnvironment', '/environments', { name: 'tagged' })
    const second = await read('/environments', tag)
    expect(second.status).toBe(200)
    expect(second.headers['etag']).not.toBe(tag)
  })

  test('the clock of the overview is no part of its tag', async () => {
    for (const path of ['/overview', '/overview/counts']) {
      const first = await read(path)
      expect((await read(path, first.headers['etag'])).status).toBe(304)
    }
  })

  test('refusals and answers to changes have none', async () => {
    expect((await read('/environments/none')).headers['etag']).toBeUndefined()
    const made = await clientOf(gateway, gateway.adminToken).send('createEnvironment', '/environments', {
      name: 'untagged',
    })
    expect(made.headers['etag']).toBeUndefined()
  })
})

describe('an unavailable dependency', () => {
  test('calls without a database are 500 DATABASE_CONNECTION_ERROR, by plain SQL and by Prisma', async () => {
    const away = createDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'test' })
    const broken = createGateway({ ...gateway.dependencies, database: away })
    const login = await request(broken.app).post('/api/v1/auth/login').send({ email: 'a@b.c', password: 'x' })
    expect(refusal(login)).toEqual(refused(500, 'DATABASE_CONNECTION_ERROR'))
    const prismaOnly = createGateway({
      ...gateway.dependencies,
      database: { ...gateway.database, query: gateway.database.query, prisma: away.prisma },
    })
    const list = await request(prismaOnly.app).get('/api/v1/environments').set(asAdmin())
    expect(refusal(list)).toEqual(refused(500, 'DATABASE_CONNECTION_ERROR'))
    await away.close()
  })

  test('creating an SSE token without Redis is 503', async () => {
    const { connectCache } = await import('../src/cache.ts')
    const cache = connectCache('redis://127.0.0.1:1', { ...gateway.dependencies.logger, warn() {}, error() {} })
    const broken = createGateway({ ...gateway.dependencies, cache })
    const response = await request(broken.app).post('/api/v1/auth/sse-token').set(asAdmin())
    expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    expect(await cache.isUp()).toBe(false)
    await cache.close()
  })

  test('calls before the first database connection are 503 with Retry-After, except health and OpenAPI', async () => {
    const { app } = createGateway({ ...gateway.dependencies, hasDatabase: () => false })
    const login = await request(app).post('/api/v1/auth/login').set('X-Request-Id', 'early').send({})
    expect(refusal(login)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
    expect(login.headers).toMatchObject({ 'retry-after': '2', 'x-request-id': 'early' })
    expect((await request(app).get('/api/v1/deployments').set(asAdmin())).status).toBe(503)
    expect((await request(app).get('/api/v1/deployments/x/logs?sse_token=x')).status).toBe(503)
    for (const path of ['health', 'health/ready', 'openapi.json']) {
      expect((await request(app).get(`/api/v1/${path}`)).status).toBe(200)
    }
    expect((await request(app).get('/api/v1/nothing')).status).toBe(404)
  })

  test('readiness names the unavailable dependency', async () => {
    const readiness = async () => ({ ready: false, dependencies: { database: 'up', broker: 'down' } as const })
    const broken = createGateway({ ...gateway.dependencies, readiness })
    const response = await request(broken.app).get('/api/v1/health/ready')
    expect(response.status).toBe(503)
    expect(response.body).toEqual({ status: 'unavailable', dependencies: { database: 'up', broker: 'down' } })
  })

  test('an internal error does not reveal its message', async () => {
    const lines: unknown[] = []
    const keys = {
      ...gateway.dependencies.logger,
      error: (message: string, fields?: object) => void lines.push([message, fields]),
      info() {},
    }
    const readiness = async () => {
      throw new Error('secret inside')
    }
    const broken = createGateway({ ...gateway.dependencies, readiness, logger: keys })
    const response = await request(broken.app).get('/api/v1/health/ready')
    expect(refusal(response)).toEqual(refused(500, 'INTERNAL_ERROR'))
    expect(JSON.stringify(response.body)).not.toMatch(/secret inside|at /)
    expect(lines).toHaveLength(1)
  })
})

describe('the request log', () => {
  test('has route, status and user but no query', async () => {
    const lines: Record<string, unknown>[] = []
    const logger = {
      ...gateway.dependencies.logger,
      info: (_: string, fields?: Record<string, unknown>) => void lines.push(fields ?? {}),
    }
    const { app } = createGateway({ ...gateway.dependencies, logger })
    await request(app).get('/api/v1/deployments?search=hidden').set(asAdmin()).set('X-Request-Id', 'log-1')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      request_id: 'log-1',
      method: 'GET',
      route: '/api/v1/deployments',
      status: 200,
      username: 'admin',
    })
    expect(JSON.stringify(lines)).not.toContain('hidden')
  })
})
