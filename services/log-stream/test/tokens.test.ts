import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { keptLog, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { numbered, TestDeployment } from './deployment.ts'
import { startStreams, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

const TENANT = uuidv7()

let db: OpenTestDatabase
let streams: TestStreams
let deployment: TestDeployment

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database })
  deployment = await TestDeployment.create(db.database)
  await deployment.commit({ lines: numbered(0, 3) })
  await deployment.end('success')
})

afterAll(async () => {
  await streams?.close()
  await db?.drop()
})

async function ask(query: string, id = deployment.id, on = streams) {
  const response = await fetch(`${on.url}/api/v1/deployments/${id}/logs${query}`)
  const text = await response.text()
  return {
    status: response.status,
    code: response.ok ? null : JSON.parse(text).error.code,
    text,
    headers: response.headers,
  }
}

describe('an SSE token', () => {
  test.each(['', '?sse_token='])('is required: %s', async (query) => {
    expect(await ask(query)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test.each(['?sse_token=nonsense', '?sse_token=a&sse_token=b', `?sse_token=${'x'.repeat(1_000)}`])(
    'must be one that the gateway issued: %s',
    async (query) => {
      expect(await ask(query)).toMatchObject({ status: 401, code: 'INVALID_TOKEN' })
    },
  )

  test('opens one stream, even in concurrent calls', async () => {
    const token = await streams.token()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`?sse_token=${token}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'INVALID_TOKEN')).toHaveLength(19)
    const [given] = answers.filter(({ status }) => status === 200)
    expect(given?.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  test('needs the permission to read deployments', async () => {
    const token = await streams.token({ permissions: ['targets:read'] })
    expect(await ask(`?sse_token=${token}`)).toMatchObject({ status: 403, code: 'INSUFFICIENT_PERMISSIONS' })
  })

  test.each([
    ['an unknown deployment', () => uuidv7()],
    ['a malformed id', () => 'nonsense'],
  ])('is used up by %s, and the answer is 404', async (_what, id) => {
    const token = await streams.token()
    expect(await ask(`?sse_token=${token}`, id())).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(await ask(`?sse_token=${token}`)).toMatchObject({ status: 401, code: 'INVALID_TOKEN' })
  })

  test('opens only streams of the tenant of its user, and all streams for a user of no tenant', async () => {
    const own = await TestDeployment.create(db.database, { tenantId: TENANT })
    const foreign = await TestDeployment.create(db.database, { tenantId: uuidv7() })
    for (const each of [own, foreign]) await each.end('success')
    const read = async (id: string, tenant_id: string | null) =>
      (await ask(`?sse_token=${await streams.token({ tenant_id })}`, id)).status
    expect(await read(own.id, TENANT)).toBe(200)
    expect(await read(deployment.id, TENANT)).toBe(404)
    expect(await read(foreign.id, TENANT)).toBe(404)
    expect(await read(foreign.id, null)).toBe(200)
  })

  test('is refused with 503 while Redis is away', async () => {
    const { logger } = keptLog()
    const cut = await startStreams({ database: db.database, redisUrl: 'redis://127.0.0.1:1', logger })
    const token = await cut.token()
    expect(await ask(`?sse_token=${token}`, deployment.id, cut)).toMatchObject({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
    })
    await cut.close()
  })
})

describe('a request', () => {
  test.each(['from=-1', 'from=1.5', 'from=', 'from=1&from=2', 'form=1'])('is refused with %s', async (query) => {
    const answer = await ask(`?sse_token=${await streams.token()}&${query}`)
    expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(JSON.parse(answer.text).error.details.errors).toEqual([
      { path: `query/${query.split('=')[0]}`, message: expect.any(String) },
    ])
  })

  test('is 405 with another method and uses up no token', async () => {
    const token = await streams.token()
    for (const method of ['POST', 'HEAD', 'DELETE']) {
      const response = await fetch(`${streams.url}/api/v1/deployments/${deployment.id}/logs?sse_token=${token}`, {
        method,
      })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    }
    expect((await ask(`?sse_token=${token}`)).status).toBe(200)
  })

  test.each(['/api/v1/sse/nonsense', '/', '/api/v1/deployments/%zz/logs'])('is 404 for %s', async (path) => {
    const response = await fetch(`${streams.url}${path}?sse_token=${await streams.token()}`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  test('gets its request id back', async () => {
    const response = await fetch(`${streams.url}/`, { headers: { 'x-request-id': 'given.id' } })
    expect(response.headers.get('x-request-id')).toBe('given.id')
  })
})

test('no log line contains the token', async () => {
  const { logger, written } = keptLog()
  const loud = await startStreams({ database: db.database, logger })
  const token = await loud.token()
  const client = await SseClient.open(loud, deployment.id, token)
  await until(() => client.ended, 'the end')
  await ask(`?sse_token=${token}`, deployment.id, loud)
  await loud.close()
  expect(written()).toContain('a log stream was opened')
  expect(written()).not.toContain(token)
})
