import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { postJson } from '../src/outbound/bridge-connections.ts'

let url: string
let connections = 0
let seen: { path: string | undefined; headers: http.IncomingHttpHeaders; body: string }[] = []
let answer: (response: http.ServerResponse) => void = (response) => response.end('{}')

const server = http.createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  seen.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces).toString() })
  answer(response)
})
server.on('connection', () => {
  connections += 1
})

const listening = (of: net.Server) =>
  new Promise<number>((resolve) => of.listen(0, '127.0.0.1', () => resolve((of.address() as AddressInfo).port)))

beforeAll(async () => {
  url = `http://127.0.0.1:${await listening(server)}`
})
beforeEach(() => {
  seen = []
})
afterAll(() => {
  agent.destroy()
  server.closeAllConnections()
  server.close()
})

const agent = new http.Agent({ keepAlive: true })
const post = (more: object = {}) =>
  postJson({
    url: `${url}/v1/runs`,
    to: 'the far end',
    token: 'secret',
    body: '["ä"]',
    timeoutMs: 5_000,
    agent,
    ...more,
  })

test('sends the token and the length in bytes, and reuses the connection, also after unread answers', async () => {
  for (const text of ['one', 'two', 'three']) {
    answer = (response) => response.writeHead(202, { 'x-of': text }).end(text)
    const { status, headers, body } = await post()
    expect({ status, of: headers['x-of'] }).toEqual({ status: 202, of: text })
    if (text !== 'two') expect((await body).toString()).toBe(text)
    // The connection is free once the answer has arrived.
    else await new Promise((resolve) => setTimeout(resolve, 500))
  }
  expect(connections).toBe(1)
  expect(seen[0]).toMatchObject({
    path: '/v1/runs',
    body: '["ä"]',
    headers: {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'content-length': '6',
    },
  })
})

test('follows no redirect', async () => {
  answer = (response) => response.writeHead(307, { location: `${url}/elsewhere` }).end()
  expect((await post()).status).toBe(307)
  expect(seen.map(({ path }) => path)).toEqual(['/v1/runs'])
})

test('times out if the server does not answer completely', async () => {
  answer = () => {}
  await expect(post({ timeoutMs: 100 })).rejects.toThrow('the far end gave no complete answer within 100 ms')
  answer = (response) => void response.write('{')
  const whole = post({ timeoutMs: 100 }).then(({ body }) => body)
  await expect(whole).rejects.toThrow('the far end gave no complete answer within 100 ms')
})

test('gives the body of an answer a timeout of its own', async () => {
  answer = (response) => {
    response.write('{')
    setTimeout(() => response.end('}'), 5_200)
  }
  const { body } = await post({ timeoutMs: 5_000, endingMs: 60_000 })
  expect((await body).toString()).toBe('{}')
  const late = await post({ timeoutMs: 60_000, endingMs: 100 })
  await expect(late.body).rejects.toThrow('the far end gave no complete answer within 100 ms')
})

test('ends when its signal aborts, before the answer and during it', async () => {
  const before = new AbortController()
  answer = () => before.abort(new Error('no more'))
  await expect(post({ signal: before.signal })).rejects.toThrow('no more')
  await expect(post({ signal: before.signal })).rejects.toThrow('no more')
  const within = new AbortController()
  answer = (response) => void response.write('{')
  const { body } = await post({ signal: within.signal })
  within.abort(new Error('enough'))
  await expect(body).rejects.toThrow('enough')
  expect(seen).toHaveLength(2)
})

test('rejects an incomplete or too long answer, and reports a failed connection', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{')
    setImmediate(() => response.destroy())
  }
  await expect((await post()).body).rejects.toThrow('aborted')
  answer = (response) => void response.writeHead(200).write('x'.repeat(5 * 1024 * 1024))
  await expect((await post()).body).rejects.toThrow('the answer of the far end is longer than 4194304 bytes')
  answer = (response) => response.destroy()
  await expect(post()).rejects.toThrow('socket hang up')
  await expect(post({ url: 'http://127.0.0.1:1/' })).rejects.toThrow('ECONNREFUSED')
})

test('uses TLS for https', async () => {
  const HANDSHAKE = 22
  let first: number | undefined
  const other = net.createServer((socket) => {
    socket.once('data', (bytes) => {
      first = bytes[0]
      socket.destroy()
    })
  })
  const port = await listening(other)
  const secure = { url: `https://127.0.0.1:${port}/`, agent: new https.Agent() }
  await expect(post(secure)).rejects.toThrow()
  expect(first).toBe(HANDSHAKE)
  other.close()
})
