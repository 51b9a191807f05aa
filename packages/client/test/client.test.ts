import { afterEach, describe, expect, test } from '@jest/globals'
import type { LogStreamMessage } from '@slipway/contracts'
import { exitCodeOf } from '../src/exit-code.ts'
import { ApiError, ConnectionError, SlipwayClient } from '../src/index.ts'
import { fakeServer, json, type Respond } from './fake-server.ts'

let server: Awaited<ReturnType<typeof fakeServer>> | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const start = async (routes: Record<string, Respond>) => {
  server = await fakeServer(routes)
  return server
}

const credentials = { email: 'admin@example.com', password: 'a long password' }
const refuse =
  (status: number, code: string, details?: object): Respond =>
  (_, response) =>
    json(response, status, { error: { code, message: `refused: ${code}`, ...(details ? { details } : {}) } })

describe('requests', () => {
  test('log in by themselves and carry the token', async () => {
    const { url, requests } = await start({
      'POST /auth/login': (_, response) => json(response, 200, { access_token: 'token-1' }),
      'GET /deployments': (_, response) => json(response, 200, { data: [], meta: {} }),
    })
    await new SlipwayClient({ baseUrl: `${url}/`, credentials }).deployments.list({ state: 'running', page: 2 })
    expect(requests.map(({ route }) => route)).toEqual(['POST /auth/login', 'GET /deployments'])
    expect(requests[0]).toMatchObject({ body: credentials, authorization: undefined })
    expect(requests[1]?.authorization).toBe('Bearer token-1')
    expect(String(requests[1]?.query)).toBe('state=running&page=2')
  })

  test('log in again when the access token has expired', async () => {
    let logins = 0
    const { url, requests } = await start({
      'POST /auth/login': (_, response) => {
        logins += 1
        json(response, 200, { access_token: `token-${logins}` })
      },
      'GET /auth/me': (request, response) =>
        request.headers.authorization === 'Bearer token-2'
          ? json(response, 200, { email: credentials.email })
          : json(response, 401, { error: { code: 'TOKEN_EXPIRED', message: 'expired' } }),
    })
    const client = new SlipwayClient({ baseUrl: url, credentials })
    expect(await client.me()).toEqual({ email: credentials.email })
    expect(requests).toHaveLength(4)
  })

  test('a refusal is an ApiError with all that the server said', async () => {
    const errors = [{ path: '/priority', message: 'must be <= 100' }]
    const { url } = await start({ 'POST /deployments': refuse(400, 'VALIDATION_ERROR', { errors }) })
    const error = await new SlipwayClient({ baseUrl: url, token: 't' }).deployments
      .create({ priority: 101 })
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      message: 'refused: VALIDATION_ERROR',
      details: { errors },
      requestId: 'request-7',
    })
  })

  test.each([
    ['INVALID_CREDENTIALS', 3],
    ['INVALID_TOKEN', 1],
  ])('%s makes a command end with %i', async (code, expected) => {
    const { url } = await start({ 'POST /auth/login': refuse(401, code) })
    expect(await new SlipwayClient({ baseUrl: url, credentials }).login().catch(exitCodeOf)).toBe(expected)
  })

  test('a plain-text refusal is one, too', async () => {
    const { url } = await start({
      'GET /auth/me': (_, response) => response.writeHead(429, { 'retry-after': '1' }).end('Too many requests'),
    })
    const error = await new SlipwayClient({ baseUrl: url, token: 't' }).me().catch((e: unknown) => e)
    expect(error).toMatchObject({ status: 429, code: 'HTTP_429', message: 'Too many requests', passing: true })
  })

  test('reads are tried again while the server is away, changes are not', async () => {
    let reads = 0
    const { url, count } = await start({
      'GET /deployments/d': (_, response) => {
        reads += 1
        if (reads === 1) json(response, 503, { error: { code: 'SERVICE_UNAVAILABLE', message: 'away' } })
        else json(response, 200, { id: 'd' })
      },
      'POST /deployments/d/cancel': refuse(503, 'SERVICE_UNAVAILABLE'),
    })
    const client = new SlipwayClient({ baseUrl: url, token: 't', retryForMs: 20_000 })
    expect(await client.deployments.get('d')).toEqual({ id: 'd' })
    await expect(client.deployments.cancel('d')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(count('POST /deployments/d/cancel')).toBe(1)
  })

  test('an absent server is a ConnectionError that names the address', async () => {
    const { url } = await start({})
    await server?.close()
    server = undefined
    const error = await new SlipwayClient({ baseUrl: url, token: 't' }).me().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(String(error)).toContain(`does not answer at ${url} (ECONNREFUSED)`)
  })
})

describe('following a log', () => {
  const line = (seq: number) => ({
    event: 'log',
    data: { type: 'log', log: { message: `line ${seq}`, metadata: { seq } } },
  })
  const state = (new_state: string, more: object = {}) => ({
    event: 'state_change',
    data: { type: 'state_change', deployment_id: 'd', old_state: '', new_state, message: '', ...more },
  })
  const step = (id: string, to: string) => ({
    event: 'step_update',
    data: { type: 'step_update', step_id: id, state: to },
  })
  const ping = { event: 'ping', data: { type: 'ping' } }

  /** Streams the given messages, one connection after the other; after each but the last the connection is cut. */
  async function streaming(connections: object[][], tokens = connections.length) {
    const spent = new Set<string>()
    let opened = 0
    let given = 0
    return await start({
      'POST /auth/sse-token': (_, response) => {
        given += 1
        if (given > tokens) json(response, 403, { error: { code: 'FORBIDDEN', message: 'no more' } })
        else json(response, 200, { sse_token: `sse-${given}` })
      },
      'GET /deployments/d/logs': (request, response) => {
        const token = new URL(request.url ?? '', 'http://fake').searchParams.get('sse_token') ?? ''
        if (spent.has(token)) return json(response, 401, { error: { code: 'INVALID_TOKEN', message: 'spent' } })
        spent.add(token)
        const messages = connections[opened] ?? []
        opened += 1
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('')
        // In two pieces, so that a message is cut in the middle.
        response.write(text.slice(0, text.length / 2), () => {
          response.write(text.slice(text.length / 2), () => {
            if (opened < connections.length) response.destroy()
            else response.end()
          })
        })
      },
    })
  }

  const follow = async (url: string, from?: number) => {
    const client = new SlipwayClient({ baseUrl: url, token: 't' })
    const messages: LogStreamMessage[] = []
    for await (const message of client.deployments.followLogs('d', from === undefined ? {} : { from })) {
      messages.push(message)
    }
    return messages
  }

  const end = state('success', { log_lines: 4 })

  test('passes everything on and ends with the final state', async () => {
    const sent = [ping, state('running'), step('s', 'running'), line(0), line(1), step('s', 'completed'), end]
    const { url, requests } = await streaming([[...sent, line(2)]])
    expect(await follow(url)).toEqual(sent)
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer t', undefined])
  })

  test('after a break goes on behind the last line with a new token, and repeats nothing', async () => {
    const { url, requests } = await streaming([
      [ping, state('running'), step('s', 'running'), line(0), line(1)],
      [ping, state('running'), step('s', 'running'), line(1), line(2)],
      [ping, state('running'), step('s', 'completed'), line(3), end],
    ])
    const messages = (await follow(url)).filter(({ event }) => event !== 'ping')
    const [s, e] = [step('s', 'running'), step('s', 'completed')]
    expect(messages).toEqual([state('running'), s, line(0), line(1), line(2), e, line(3), end])
    const opened = requests.filter(({ route }) => route.startsWith('GET')).map(({ query }) => String(query))
    expect(opened).toEqual(['sse_token=sse-1&from=0', 'sse_token=sse-2&from=2', 'sse_token=sse-3&from=3'])
  })

  test('a final state at the opening of a stream is not its end', async () => {
    const { url } = await streaming([[ping, state('success'), line(2), line(3), end]])
    expect((await follow(url, 2)).map(({ event }) => event)).toEqual(['ping', 'log', 'log', 'state_change'])
  })

  test('a refusal ends it', async () => {
    const { url, count } = await streaming([[ping, line(0)], []], 1)
    await expect(follow(url)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(count('POST /auth/sse-token')).toBe(2)
  })

  test('ends when its signal says so, even while the server is silent', async () => {
    const { url } = await start({
      'POST /auth/sse-token': (_, response) => json(response, 200, { sse_token: 'sse' }),
      'GET /deployments/d/logs': (_, response) => {
        response.writeHead(200).write(`data: ${JSON.stringify(ping)}\n\n`)
      },
    })
    const client = new SlipwayClient({ baseUrl: url, token: 't' })
    const stop = new AbortController()
    const following = (async () => {
      for await (const { event } of client.deployments.followLogs('d', { signal: stop.signal })) {
        if (event === 'ping') stop.abort()
      }
    })()
    await expect(following).rejects.toMatchObject({ name: 'AbortError' })
  })
})
