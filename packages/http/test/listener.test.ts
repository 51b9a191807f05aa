import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from '@jest/globals'
import { Type } from '@sinclair/typebox'
import { Problem } from '@slipway/domain'
import { exposition, type Logger } from '@slipway/runtime'
import {
  bytesOf,
  createListener,
  jsonReader,
  type ListeningServer,
  listen,
  Refusal,
  type Route,
  readJson,
} from '../src/index.ts'

let server: ListeningServer | undefined
afterEach(() => server?.close())

interface Line {
  level: string
  message: string
  fields: Record<string, unknown>
}

/** Serves the routes. Returns a function that calls them, and the lines of the log. */
async function serve(routes: Route[], callers: 'users' | 'programs' = 'users') {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      void lines.push({ level, message, fields })
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  }
  const listener = createListener({ routes, logger, callers })
  server = await listen(listener, { host: '127.0.0.1', port: 0, variable: 'none' })
  const { port } = server
  const call = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...init })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  /** The log line of a request follows its answer. */
  const linesOf = async (count: number) => {
    while (lines.length < count) await new Promise((resolve) => setImmediate(resolve))
    return lines
  }
  return { call, linesOf }
}

const echo = (path: string, method = 'GET'): Route => ({
  method,
  path,
  handle: async ({ route, params }) => ({ status: 200, body: { route, params } }),
})

describe('a route', () => {
  test('is found by method and path, literal segments first', async () => {
    const { call } = await serve([echo('/things/{id}'), echo('/things/new'), echo('/things/{id}', 'DELETE')])
    expect((await call('GET', '/things/a%20b')).body).toEqual({ route: '/things/{id}', params: { id: 'a b' } })
    expect((await call('GET', '/things/new')).body).toEqual({ route: '/things/new', params: {} })
    expect((await call('HEAD', '/things/1')).status).toBe(200)
    for (const path of ['/things/', '/things', '/things/1/']) expect((await call('GET', path)).status).toBe(404)
    const refused = await call('PUT', '/things/1')
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE'])
  })

  test('of a stream does not allow HEAD', async () => {
    const { call } = await serve([{ ...echo('/stream'), isStream: true }])
    expect((await call('HEAD', '/stream')).headers.get('allow')).toBe('GET')
  })
})

describe('a body', () => {
  const schema = Type.Object({ name: Type.String() }, { additionalProperties: false })
  const read = jsonReader(schema, { bytes: 100 })
  const reading: Route = {
    method: 'POST',
    path: '/',
    handle: async ({ request }) => ({ status: 200, body: await read(request) }),
  }
  const json = { 'content-type': 'application/json' }
  const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
    status,
    body.error?.code,
  ]

  test('is read within its bounds, plain and compressed', async () => {
    const { call } = await serve([reading])
    const send = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
      call('POST', '/', { body, headers: { ...json, ...headers } })
    const text = (length: number) => JSON.stringify({ name: 'x'.repeat(length - 11) })
    expect((await send(text(100))).status).toBe(200)
    expect(codeOf(await send(text(101)))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect((await send(gzipSync(text(100)), { 'content-encoding': 'gzip' })).status).toBe(200)
    expect(codeOf(await send(gzipSync(text(101)), { 'content-encoding': 'gzip' }))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(codeOf(await send('no gzip', { 'content-encoding': 'gzip' }))).toEqual([400, 'INVALID_BODY'])
    expect(codeOf(await send('{}', { 'content-encoding': 'constructor' }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(codeOf(await send('{}', { 'content-type': 'text/plain' }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    expect(codeOf(await send('{'))).toEqual([400, 'INVALID_BODY'])
    expect(codeOf(await send('{"other":1}'))).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('is refused over the bounds of values and nesting', async () => {
    const route: Route = {
      method: 'POST',
      path: '/',
      handle: async ({ request }) => ({
        status: 200,
        body: (await readJson(request, { bytes: 100, values: 3, nesting: 2 })).value,
      }),
    }
    const { call } = await serve([route])
    const send = async (body: string) => (await call('POST', '/', { body, headers: json })).status
    expect([await send('[1,2,3]'), await send('[1,2,3,4]'), await send('[[]]'), await send('[[[]]]')]).toEqual([
      200, 400, 200, 400,
    ])
  })

  test('of bytes is refused while it arrives, and the client reads the refusal', async () => {
    const route: Route = {
      method: 'PUT',
      path: '/',
      async handle({ request }) {
        let size = 0
        for await (const piece of bytesOf(request, 1_000_000)) size += piece.length
        return { status: 200, body: { size } }
      },
    }
    const { call } = await serve([route])
    const upload = (pieces: number) => {
      let sent = 0
      const body = new ReadableStream({
        pull(controller) {
          if (sent++ < pieces) controller.enqueue(new Uint8Array(100_000))
          else controller.close()
        },
      })
      return call('PUT', '/', { body, duplex: 'half' } as RequestInit)
    }
    expect((await upload(10)).body).toEqual({ size: 1_000_000 })
    expect(codeOf(await upload(30))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })
})

describe('an error', () => {
  const failing = (error: Error): Route => ({
    method: 'GET',
    path: '/',
    handle: () => Promise.reject(error),
  })

  test('that is no refusal is 500, and only the log has its message', async () => {
    const { call, linesOf } = await serve([failing(new Error('secret inside'))])
    const { status, body } = await call('GET', '/')
    expect([status, body.error.code]).toEqual([500, 'INTERNAL_ERROR'])
    expect(JSON.stringify(body)).not.toContain('secret')
    expect((await linesOf(2))[0]).toMatchObject({ level: 'error', message: 'a request failed' })
  })

  test.each([
    [new Problem('SERVICE_UNAVAILABLE', 'later'), 503, '2'],
    [new Refusal(409, 'FENCED', 'too late'), 409, null],
  ])('%s is the answer', async (error, status, retryAfter) => {
    const answer = await (await serve([failing(error)])).call('GET', '/')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter])
    expect(answer.body).toEqual({ error: { code: error.code, message: error.message } })
  })

  test('of a program is a warning with the reason, and of a user it is none', async () => {
    const ofProgram = await serve([failing(new Refusal(409, 'FENCED', 'too late'))], 'programs')
    await ofProgram.call('GET', '/')
    expect(await ofProgram.linesOf(1)).toMatchObject([
      { level: 'warn', fields: { code: 'FENCED', reason: 'too late' } },
    ])
    await server?.close()
    const ofUser = await serve([failing(new Problem('CONFLICT', 'too late'))])
    await ofUser.call('GET', '/?token=secret')
    const lines = await ofUser.linesOf(1)
    expect(lines).toMatchObject([{ level: 'info', message: 'request', fields: { status: 409, code: 'CONFLICT' } }])
    expect(JSON.stringify(lines)).not.toMatch(/secret|too late/)
  })
})

test('an answer has the request id of the client if that is valid, else a new one', async () => {
  const { call } = await serve([echo('/')])
  const idOf = async (given: string) =>
    (await call('GET', '/', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
  expect(await idOf('build-42.a_b')).toBe('build-42.a_b')
  for (const insane of ['has blank', 'x'.repeat(129), 'ä']) expect(await idOf(insane)).toMatch(/^[0-9a-f-]{36}$/)
})

test('requests are timed by route and status, and streams are not', async () => {
  // A method that no other test uses, because the counts belong to the whole process.
  const method = 'REPORT'
  const stream: Route = {
    method,
    path: '/stream',
    handle: async () => ({ status: 200, headers: { 'content-type': 'text/event-stream' } }),
  }
  const { call, linesOf } = await serve([echo('/things/{id}', method), stream])
  for (const path of ['/things/1', '/things/2', '/nowhere', '/stream']) await call(method, path)
  await linesOf(4)
  const { text } = await exposition()
  const counts = text.split('\n').filter((line) => line.startsWith('slipway_http_request_duration_seconds_count'))
  expect(counts.filter((line) => line.includes(`method="${method}"`))).toEqual([
    'slipway_http_request_duration_seconds_count{method="REPORT",route="/things/{id}",status="200"} 2',
    'slipway_http_request_duration_seconds_count{method="REPORT",route="none",status="404"} 1',
  ])
})
