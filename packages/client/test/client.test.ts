import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test } from '@jest/globals'
import type { LogStreamMessage } from '@slipway/contracts'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import {
  AuthenticationError,
  ConnectionError,
  createMemoryStore,
  FrozenError,
  NotSlipwayError,
  RateLimitError,
  type Session,
  SlipwayClient,
  TokenExchangeError,
  ValidationError,
} from '../src/index.ts'

let server: Awaited<ReturnType<typeof startFakeServer>> | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const start = async (routes: Record<string, RouteHandler>) => {
  server = await startFakeServer(routes)
  return server
}

const credentials = { email: 'admin@example.com', password: 'a long password' }
const refuse =
  (status: number, code: string, details?: object): RouteHandler =>
  (_, response) =>
    sendJson(response, status, { error: { code, message: `refused: ${code}`, ...(details ? { details } : {}) } })

/** Uses one answer for each call in order, and the last answer for all later calls. */
const inTurn = (...answers: RouteHandler[]): RouteHandler => {
  let n = 0
  return (...given) => (answers[Math.min(n++, answers.length - 1)] as RouteHandler)(...given)
}
const ok =
  (body: unknown): RouteHandler =>
  (_, response) =>
    sendJson(response, 200, body)

describe('remembered answers', () => {
  const PAGE = { data: [], meta: {} }
  /** Answers 304 to the tag of the page. */
  const tagged =
    (tag: string): RouteHandler =>
    ({ headers }, response) => {
      response.setHeader('etag', tag)
      if (headers['if-none-match'] === tag) response.writeHead(304).end()
      else sendJson(response, 200, PAGE)
    }

  test('a read without a change gives the same object again, and each URL has its own', async () => {
    const { url, requests } = await start({ 'GET /targets': tagged('W/"1"'), 'POST /auth/logout': ok({ message: '' }) })
    const client = new SlipwayClient({ url, token: 't', rememberAnswers: 2 })
    const read = (page: number) => client.call('listTargets', { query: { page } })
    const first = await read(1)
    expect(await read(2)).not.toBe(first)
    expect(await read(1)).toBe(first)
    // Two are kept: the third makes it forget the one that was used longest ago.
    await read(3)
    expect(await read(1)).toBe(first)
    await client.logout()
    expect(await read(1)).not.toBe(first)
    expect(requests).toHaveLength(7)
  })

  test('nothing is remembered unless the client is told to', async () => {
    const { url } = await start({ 'GET /targets': tagged('W/"1"') })
    const client = new SlipwayClient({ url, token: 't' })
    expect(await client.call('listTargets')).not.toBe(await client.call('listTargets'))
  })
})

describe('authentication', () => {
  test('logs in when needed and sends the token', async () => {
    const { url, requests } = await start({
      'POST /auth/login': ok({ access_token: 'token-1' }),
      'GET /deployments': ok({ data: [], meta: {} }),
    })
    const client = new SlipwayClient({ url: `${url}/`, credentials })
    await client.call('listDeployments', { query: { state: 'running', page: 2 } })
    expect(requests.map(({ route }) => route)).toEqual(['POST /auth/login', 'GET /deployments'])
    expect(requests[0]).toMatchObject({ body: credentials, authorization: undefined })
    expect(requests[1]?.authorization).toBe('Bearer token-1')
    expect(String(requests[1]?.query)).toBe('state=running&page=2')
  })

  const tellsTime: RouteHandler = (request, response) =>
    request.headers.authorization === 'Bearer new'
      ? sendJson(response, 200, { email: credentials.email })
      : sendJson(response, 401, { error: { code: 'TOKEN_EXPIRED', message: 'expired' } })

  test('renews an expired session with its refresh token, once for concurrent calls', async () => {
    const { url, count } = await start({
      'POST /auth/refresh': (request, response) => {
        expect(request.headers.cookie).toBe('refresh_token=first')
        response.setHeader('set-cookie', 'refresh_token=second; HttpOnly; Path=/api/v1/auth')
        sendJson(response, 200, { access_token: 'new' })
      },
      'GET /auth/me': tellsTime,
    })
    let kept: Session | undefined = { accessToken: 'old', refreshToken: 'first' }
    const sessions = {
      load: () => kept,
      save: (session: Session | undefined) => {
        kept = session
      },
    }
    const client = new SlipwayClient({ url, sessions })
    await Promise.all([1, 2, 3].map(() => client.call('getCurrentUser')))
    expect(count('POST /auth/refresh')).toBe(1)
    expect(kept).toEqual({ accessToken: 'new', refreshToken: 'second' })
  })

  test('uses a session that another process renewed meanwhile', async () => {
    let kept: Session | undefined = { accessToken: 'old', refreshToken: 'first' }
    const { url } = await start({
      'POST /auth/refresh': (_, response) => {
        kept = { accessToken: 'new', refreshToken: 'second' }
        sendJson(response, 401, { error: { code: 'INVALID_TOKEN', message: 'spent' } })
      },
      'GET /auth/me': tellsTime,
    })
    const sessions = { load: () => kept, save: () => {} }
    expect(await new SlipwayClient({ url, sessions }).call('getCurrentUser')).toEqual({ email: credentials.email })
  })

  test('fails if the session cannot be renewed', async () => {
    const { url } = await start({ 'POST /auth/refresh': refuse(401, 'INVALID_TOKEN'), 'GET /auth/me': tellsTime })
    const sessions = { load: () => ({ accessToken: 'old', refreshToken: 'first' }), save: () => {} }
    let ends = 0
    const onSessionEnd = () => {
      ends += 1
    }
    const client = new SlipwayClient({ url, sessions, onSessionEnd })
    const error = await client.call('getCurrentUser').catch((e: unknown) => e)
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(ends).toBe(1)
  })

  test.each([
    ['once if the browser has no cookie', 'UNAUTHORIZED', 1],
    ['again if the cookie is spent, because its successor may be under way', 'INVALID_TOKEN', 2],
  ])('asks for a new session %s', async (_, code, times) => {
    const { url, count } = await start({ 'POST /auth/refresh': refuse(401, code) })
    const cookies = { request: <T>(_name: string, work: () => Promise<T>) => work() }
    await expect(new SlipwayClient({ url, cookies }).call('getCurrentUser')).rejects.toThrow()
    expect(count('POST /auth/refresh')).toBe(times)
  })

  describe('of a service account', () => {
    /** Gives each ID token an access token of its own. */
    const exchange =
      (expires_in: number): RouteHandler =>
      (_, response, body) =>
        sendJson(response, 200, {
          access_token: `access for ${(body as { subject_token: string }).subject_token}`,
          expires_in,
        })
    const whoAmI: RouteHandler = (request, response) =>
      sendJson(response, 200, { email: null, username: request.headers.authorization })
    const createAccount = () => {
      const uses: boolean[] = []
      const getIdToken = async ({ isRenewal }: { isRenewal: boolean }) => `id-${uses.push(isRenewal)}`
      return { serviceAccount: { name: 'ci', getIdToken }, uses }
    }

    test('exchanges an ID token at the first call, once for concurrent calls', async () => {
      const { url, requests, count } = await start({ 'POST /auth/token': exchange(900), 'GET /auth/me': whoAmI })
      const { serviceAccount, uses } = createAccount()
      const client = new SlipwayClient({ url, serviceAccount })
      expect(uses).toEqual([])
      const users = await Promise.all([1, 2, 3].map(() => client.call('getCurrentUser')))
      expect(users.map(({ username }) => username)).toEqual(Array(3).fill('Bearer access for id-1'))
      expect(count('POST /auth/token')).toBe(1)
      expect(requests[0]).toMatchObject({
        authorization: undefined,
        body: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: 'id-1',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          service_account: 'ci',
        },
      })
    })

    test('exchanges another ID token before the access token ends', async () => {
      const { url } = await start({ 'POST /auth/token': inTurn(exchange(30), exchange(900)), 'GET /auth/me': whoAmI })
      const { serviceAccount, uses } = createAccount()
      const client = new SlipwayClient({ url, serviceAccount })
      for (const n of [1, 2, 2]) {
        expect(await client.call('getCurrentUser')).toMatchObject({ username: `Bearer access for id-${n}` })
      }
      expect(uses).toEqual([false, true])
    })

    test('uses its access token to the end if it cannot be renewed', async () => {
      const { url } = await start({
        'POST /auth/token': inTurn(exchange(30), refuse(401, 'INVALID_TOKEN')),
        'GET /auth/me': inTurn(whoAmI, whoAmI, refuse(401, 'TOKEN_EXPIRED')),
      })
      const client = new SlipwayClient({ url, ...createAccount() })
      for (const _ of [1, 2]) {
        expect(await client.call('getCurrentUser')).toMatchObject({ username: 'Bearer access for id-1' })
      }
      await expect(client.call('getCurrentUser')).rejects.toThrow(TokenExchangeError)
    })
  })

  test('asks for a code if the account has a second factor', async () => {
    const { url, requests } = await start({
      'POST /auth/login': ok({ requires_2fa: true, pending_token: 'pending' }),
      'POST /auth/2fa/verify': ok({ access_token: 'token' }),
    })
    await new SlipwayClient({ url }).login({ ...credentials, code: () => '123456' })
    expect(requests[1]?.body).toEqual({ code: '123456', pending_token: 'pending' })
    await expect(new SlipwayClient({ url }).login(credentials)).rejects.toThrow('second factor')
  })

  test('asks for another code after a wrong one, with the same pending token, if onWrongCode is set', async () => {
    const { url, requests } = await start({
      'POST /auth/login': ok({ requires_2fa: true, pending_token: 'pending' }),
      'POST /auth/2fa/verify': inTurn(refuse(401, 'INVALID_CREDENTIALS'), ok({ access_token: 'token' })),
    })
    const codes = ['000000', '123456']
    const wrong: unknown[] = []
    const code = () => codes.shift() ?? ''
    await new SlipwayClient({ url }).login({ ...credentials, code, onWrongCode: (error) => wrong.push(error) })
    expect(wrong).toEqual([expect.any(AuthenticationError)])
    expect(requests.map(({ body }) => body).slice(1)).toEqual([
      { code: '000000', pending_token: 'pending' },
      { code: '123456', pending_token: 'pending' },
    ])
  })

  test('fails after a wrong code without onWrongCode', async () => {
    const { url, count } = await start({
      'POST /auth/login': ok({ requires_2fa: true, pending_token: 'pending' }),
      'POST /auth/2fa/verify': refuse(401, 'INVALID_CREDENTIALS'),
    })
    const login = new SlipwayClient({ url }).login({ ...credentials, code: () => '000000' })
    await expect(login).rejects.toBeInstanceOf(AuthenticationError)
    expect(count('POST /auth/2fa/verify')).toBe(1)
  })
})

describe('refusals', () => {
  const failure = async (respond: RouteHandler) => {
    const { url } = await start({ 'POST /deployments': respond })
    return await new SlipwayClient({ url, token: 't', retryForMs: 0 })
      .call('createDeployment', { body: { priority: 101 } })
      .catch((e: unknown) => e)
  }

  test('have the status, code, message, details and request id of the server', async () => {
    const errors = [{ path: '/priority', message: 'must be <= 100' }]
    const error = await failure(refuse(400, 'VALIDATION_ERROR', { errors }))
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      message: 'refused: VALIDATION_ERROR',
      details: { errors },
      problems: errors,
      requestId: 'request-7',
    })
  })

  test('contain the freezes if a freeze is the reason', async () => {
    const freezes = [{ id: 'f', name: 'end of year', ends_at: '2027-01-04T00:00:00Z' }]
    const error = await failure(refuse(409, 'DEPLOYMENT_FROZEN', { active_freezes: freezes, can_override: true }))
    expect(error).toBeInstanceOf(FrozenError)
    expect(error).toMatchObject({ freezes, canOverride: true })
  })

  test('can be the plain text of the rate limiter', async () => {
    const error = await failure((_, response) =>
      response.writeHead(429, { 'retry-after': '1' }).end('Too many requests'),
    )
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, code: 'HTTP_429', message: 'Too many requests', retryAfter: 1 })
  })
})

describe('another server', () => {
  const other =
    (status: number, body: unknown, headers: Record<string, string> = {}): RouteHandler =>
    (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

  test.each([
    ['JSON without a request id', other(200, { email: 'ada@example.com' })],
    ['JSON of another form', other(200, { message: 'hello' }, { 'x-request-id': 'r' })],
    ['a number', other(200, 7, { 'x-request-id': 'r' })],
    ['nothing', (_, response) => response.writeHead(204, { 'x-request-id': 'r' }).end()],
    ['an error of the same form without a request id', other(404, { error: { code: 'NONE', message: 'none' } })],
    ['an error of another form', other(404, { message: 'none' }, { 'x-request-id': 'r' })],
  ] satisfies [string, RouteHandler][])('answers with %s: NotSlipwayError', async (_, respond) => {
    const { url } = await start({ 'GET /auth/me': respond })
    const call = new SlipwayClient({ url, token: 't', retryForMs: 0 }).call('getCurrentUser')
    await expect(call).rejects.toBeInstanceOf(NotSlipwayError)
  })

  test('gives no session for a login', async () => {
    const { url } = await start({ 'POST /auth/login': ok({ status: 'ok' }) })
    const sessions = createMemoryStore()
    const login = new SlipwayClient({ url, sessions }).login(credentials)
    await expect(login).rejects.toThrow('answers, but is not Slipway')
    expect(sessions.load()).toBeUndefined()
  })

  test('a proxy whose server is away is a passing failure', async () => {
    const { url } = await start({ 'GET /auth/me': (_, response) => response.writeHead(502).end('Bad Gateway') })
    const call = new SlipwayClient({ url, token: 't', retryForMs: 0 }).call('getCurrentUser')
    await expect(call).rejects.toMatchObject({ name: 'ServerError', code: 'HTTP_502', message: 'Bad Gateway' })
  })
})

describe('retries', () => {
  const away = refuse(503, 'SERVICE_UNAVAILABLE')
  const drop: RouteHandler = (_, response) => response.destroy()

  test('repeat reads while the server is away or breaks the connection', async () => {
    const { url } = await start({ 'GET /deployments/d': inTurn(away, drop, ok({ id: 'd' })) })
    const client = new SlipwayClient({ url, token: 't' })
    expect(await client.call('getDeployment', { params: { id: 'd' } })).toEqual({ id: 'd' })
  })

  test('repeat changes only if the server refused them before they had an effect', async () => {
    const limited: RouteHandler = (_, response) =>
      response.writeHead(429, { 'retry-after': '0' }).end('Too many requests')
    const { url, count } = await start({
      'POST /deployments/d/cancel': away,
      'POST /deployments/e/cancel': inTurn(limited, ok({ id: 'e' })),
    })
    const client = new SlipwayClient({ url, token: 't' })
    const cancel = (id: string) => client.call('cancelDeployment', { params: { id } })
    await expect(cancel('d')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(count('POST /deployments/d/cancel')).toBe(1)
    expect(await cancel('e')).toEqual({ id: 'e' })
  })

  test('repeat a change after a broken connection only with an idempotency key, which stays the same', async () => {
    const keys: unknown[] = []
    const { url, count } = await start({
      'POST /deployments/d/cancel': drop,
      'POST /deployments': (...given) => {
        keys.push(given[0].headers['idempotency-key'])
        ;([drop, away][keys.length - 1] ?? ok({ deployment_id: 'd' }))(...given)
      },
    })
    const client = new SlipwayClient({ url, token: 't' })
    const cancelling = client.call('cancelDeployment', { params: { id: 'd' } })
    await expect(cancelling).rejects.toBeInstanceOf(ConnectionError)
    expect(count('POST /deployments/d/cancel')).toBe(1)
    expect(await client.call('createDeployment', { body: {} })).toEqual({ deployment_id: 'd' })
    expect(keys).toEqual([expect.stringMatching(/^\S{16,}$/), keys[0], keys[0]])
  })

  test('do not happen after a lockout', async () => {
    const { url, count } = await start({ 'GET /auth/me': refuse(429, 'AUTH_RATE_LIMIT_EXCEEDED') })
    await expect(new SlipwayClient({ url, token: 't' }).call('getCurrentUser')).rejects.toBeInstanceOf(RateLimitError)
    expect(count('GET /auth/me')).toBe(1)
  })

  test('stop when the signal of the caller aborts', async () => {
    const stop = new AbortController()
    const { url, count } = await start({
      'GET /auth/me': (...given) => {
        stop.abort()
        away(...given)
      },
    })
    const client = new SlipwayClient({ url, token: 't' })
    await expect(client.call('getCurrentUser', { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
    expect(count('GET /auth/me')).toBe(1)
  })

  test('leaves no listener on the signal of the caller', async () => {
    const { url } = await start({ 'GET /auth/me': inTurn(away, ok({ email: credentials.email })) })
    const { signal } = new AbortController()
    await new SlipwayClient({ url, token: 't' }).call('getCurrentUser', { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('an unreachable server is a ConnectionError with the address', async () => {
    const { url } = await start({})
    await server?.close()
    server = undefined
    const error = await new SlipwayClient({ url, token: 't', retryForMs: 0 })
      .call('getCurrentUser')
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(String(error)).toContain(`does not answer at ${url} (ECONNREFUSED)`)
  })
})

test('an operation that does not exist is named', async () => {
  const client = new SlipwayClient({ url: 'http://127.0.0.1:1', token: 't' })
  await expect(client.call('getNonsense' as 'getHealth')).rejects.toThrow('There is no operation "getNonsense"')
})

describe('bytes', () => {
  test('are sent and received unchanged', async () => {
    const bytes = Uint8Array.from([0, 255, 10, 13])
    const { url, requests } = await start({
      'POST /content': ok({ id: 'hash', size: 4 }),
      'GET /content/hash': (_, response) =>
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes),
    })
    const client = new SlipwayClient({ url, token: 't' })
    expect(await client.call('createContent', { body: bytes })).toEqual({ id: 'hash', size: 4 })
    expect(requests[0]?.body).toEqual(Buffer.from(bytes))
    expect(await client.call('getContent', { params: { sha256: 'hash' } })).toEqual(bytes)
  })
})

describe('lists', () => {
  test('are read by cursors to their end', async () => {
    const pages = new Map([
      ['start', { data: [{ id: 'a' }], meta: { has_next: true, next_cursor: 'b' } }],
      ['b', { data: [{ id: 'b' }], meta: { has_next: false, next_cursor: null } }],
    ])
    const { url, requests } = await start({
      'GET /targets': (request, response) =>
        sendJson(response, 200, pages.get(new URL(request.url ?? '', 'http://fake').searchParams.get('cursor') ?? '')),
    })
    const client = new SlipwayClient({ url, token: 't' })
    const ids: string[] = []
    for await (const { id } of client.each('listTargets', { query: { page: 7, limit: 1 } })) ids.push(id)
    expect(ids).toEqual(['a', 'b'])
    expect(requests.map(({ query }) => String(query))).toEqual(['limit=1&cursor=start', 'limit=1&cursor=b'])
  })

  test('end with a refusal that is not about cursors', async () => {
    const { url } = await start({ 'GET /targets': refuse(400, 'VALIDATION_ERROR') })
    const reading = new SlipwayClient({ url, token: 't' }).each('listTargets').next()
    await expect(reading).rejects.toMatchObject({ status: 400 })
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

  /** Streams the messages, one list for each connection. Each connection except the last breaks at its end. */
  async function streaming(connections: object[][], tokens = connections.length) {
    const spent = new Set<string>()
    let opened = 0
    let given = 0
    return await start({
      'POST /auth/sse-token': (_, response) => {
        given += 1
        if (given > tokens) sendJson(response, 403, { error: { code: 'FORBIDDEN', message: 'no more' } })
        else sendJson(response, 200, { sse_token: `sse-${given}` })
      },
      'GET /deployments/d/logs': (request, response) => {
        const token = new URL(request.url ?? '', 'http://fake').searchParams.get('sse_token') ?? ''
        if (spent.has(token)) return sendJson(response, 401, { error: { code: 'INVALID_TOKEN', message: 'spent' } })
        spent.add(token)
        const messages = connections[opened] ?? []
        opened += 1
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('')
        // Two writes split a message in the middle.
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
    const client = new SlipwayClient({ url, token: 't' })
    const messages: LogStreamMessage[] = []
    for await (const message of client.followLogs('d', from === undefined ? {} : { from })) {
      messages.push(message)
    }
    return messages
  }

  const end = state('success', { log_lines: 4 })

  test('returns every message and ends with the final state', async () => {
    const sent = [ping, state('running'), step('s', 'running'), line(0), line(1), step('s', 'completed'), end]
    const { url, requests } = await streaming([[...sent, line(2)]])
    expect(await follow(url)).toEqual(sent)
    expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer t', undefined])
  })

  test('continues after a broken connection behind the last line with a new token, without repetitions', async () => {
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

  test('does not end at the final state that opens a stream', async () => {
    const { url } = await streaming([[ping, state('success'), line(2), line(3), end]])
    expect((await follow(url, 2)).map(({ event }) => event)).toEqual(['ping', 'log', 'log', 'state_change'])
  })

  test('ends with an error after a refusal', async () => {
    const { url, count } = await streaming([[ping, line(0)], []], 1)
    await expect(follow(url)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(count('POST /auth/sse-token')).toBe(2)
  })

  test('ends when its signal aborts, even while the server is silent', async () => {
    const { url } = await start({
      'POST /auth/sse-token': (_, response) => sendJson(response, 200, { sse_token: 'sse' }),
      'GET /deployments/d/logs': (_, response) => {
        response.writeHead(200).write(`data: ${JSON.stringify(ping)}\n\n`)
      },
    })
    const client = new SlipwayClient({ url, token: 't' })
    const stop = new AbortController()
    const following = (async () => {
      for await (const { event } of client.followLogs('d', { signal: stop.signal })) {
        if (event === 'ping') stop.abort()
      }
    })()
    await expect(following).rejects.toMatchObject({ name: 'AbortError' })
  })
})
