import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, loginToSuite, type Suite, startSuite, waitFor } from '@slipway/testing'

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

let suite: Suite
let api: Api
beforeAll(async () => {
  suite = await startSuite({ env: { SLIPWAY_LOG_LEVEL: 'debug' } })
  api = await loginToSuite(suite)
})
afterAll(() => suite.stop())

interface Reply {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

/** Sends a request from another address of this machine, for which the default limits apply. */
function from(localAddress: string, method: string, path: string, body?: object): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const outgoing = http.request(
      `${suite.url}${path}`,
      { method, localAddress, headers, agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      },
    )
    outgoing.once('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

describe('with default limits', () => {
  test('the gateway limits an address with many requests and serves other addresses', async () => {
    const flood = await waitFor(
      async () => {
        const replies = await Promise.all(
          Array.from({ length: 300 }, () => from('127.0.0.2', 'GET', '/api/v1/nothing')),
        )
        return replies.find(({ status }) => status === 429)
      },
      { what: 'the general limit' },
    )
    expect(flood.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' })
    expect(flood.headers['content-type']).toMatch(/^text\/plain/)
    expect((await from('127.0.0.3', 'GET', '/api/v1/nothing')).status).toBe(404)
    await waitFor(async () => (await from('127.0.0.2', 'GET', '/api/v1/nothing')).status === 404, { what: 'a place' })
  })

  test('the sixth login within a minute locks its address out for 15 minutes', async () => {
    const logIn = () => from('127.0.0.4', 'POST', '/api/v1/auth/login', suite.admin)
    for (let n = 0; n < 5; n++) expect((await logIn()).status).toBe(200)
    const { status, headers, text } = await logIn()
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 429, retryAfter: '900' })
    expect(JSON.parse(text).error).toMatchObject({ code: 'AUTH_RATE_LIMIT_EXCEEDED', retry_after_secs: 900 })
    expect((await from('127.0.0.5', 'POST', '/api/v1/auth/login', suite.admin)).status).toBe(200)
  })
})

describe('the logs of all services', () => {
  const planted = {
    password: 'planted-wrong-password',
    query: 'planted-in-a-query',
    path: 'planted-in-a-path',
    bearer: 'planted-as-a-bearer',
    cookie: 'planted-as-a-cookie',
    body: 'planted-in-a-body',
    key: 'svc_planted-as-a-key',
  }

  /** Sends secrets in every place of requests. Returns all planted and created secrets. */
  async function useSecretsEverywhere(): Promise<string[]> {
    const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      api.call(method, path, body, headers)
    const login = await call('POST', '/auth/login', suite.admin)
    await call('POST', '/auth/login', { ...suite.admin, password: planted.password })
    await call('POST', '/auth/login', `{"email":"a@b.c","password":"${planted.body}`)
    await call('POST', '/auth/2fa/verify', { code: '123456', pending_token: planted.body })
    await call('POST', '/auth/refresh', undefined, { cookie: `refresh_token=${planted.cookie}` })
    await call('POST', '/auth/password', {
      current_password: planted.password,
      new_password: `${planted.password}-new`,
    })
    const { body: key } = await call('POST', '/auth/api-keys', { name: 'key' })
    const { body: twoFactor } = await call('POST', '/auth/2fa/setup')
    const { body: sse } = await call('POST', '/auth/sse-token', {})
    await call('POST', '/auth/sse-token/refresh', { session_id: sse.session_id, refresh_token: planted.body })
    for (const bearer of [planted.bearer, planted.key, key.full_key]) {
      await call('GET', '/deployments', undefined, { authorization: `Bearer ${bearer}` })
    }
    await call('GET', `/deployments?search=${planted.query}&sse_token=${planted.query}`)
    await call('GET', `/nothing/${planted.path}?token=${planted.query}`)
    await call('GET', `/deployments/${planted.path}`)
    await call('GET', `/deployments/${UNKNOWN_ID}/logs?sse_token=${planted.query}`)
    await call('GET', `/deployments/${UNKNOWN_ID}/logs?sse_token=${sse.sse_token}`)
    await call('POST', '/targets', {
      name: 'secret target',
      connection: { type: 'ssh', host: '127.0.0.1', port: 1, username: 'x', password: planted.body },
    })
    return [
      ...Object.values(planted),
      api.token,
      login.body.access_token,
      login.headers.get('set-cookie')?.match(/refresh_token=([^;]+)/)?.[1],
      key.full_key,
      twoFactor.secret,
      sse.sse_token,
      sse.refresh_token,
      suite.admin.password,
    ].map((secret) => {
      if (typeof secret !== 'string' || secret.length < 10) throw new Error('a secret was not made')
      return secret
    })
  }

  test('contain no token, password or query, and one line for each request', async () => {
    const secrets = await useSecretsEverywhere()
    await api.call('GET', '/auth/me', undefined, { 'x-request-id': 'the-last-one' })
    await waitFor(() => suite.logOf('gateway').includes('the-last-one'), { what: 'the last line' })
    const text = (['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream'] as const)
      .map(suite.logOf)
      .join('')
    for (const secret of secrets) {
      const found = text.split('\n').filter((line) => line.includes(secret))
      expect({ secret, found }).toEqual({ secret, found: [] })
    }
    expect(text).not.toMatch(/sse_token=|[?&]search=/)

    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const last = lines.filter(({ request_id, message }) => request_id === 'the-last-one' && message === 'request')
    expect(last).toHaveLength(1)
    expect(last[0]).toMatchObject({
      level: 'info',
      service: 'gateway',
      method: 'GET',
      route: '/api/v1/auth/me',
      status: 200,
      duration_ms: expect.any(Number),
      user_id: expect.any(String),
      username: expect.any(String),
      tenant_id: null,
    })
    const statuses = new Set(lines.filter(({ message }) => message === 'request').map(({ status }) => status))
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 429]))
  })
})
