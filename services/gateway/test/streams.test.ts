import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type ListeningServer, listen } from '@slipway/http'
import { COUNTED_HEADER, countedMark, isCounted } from '@slipway/http/limits'
import { waitFor } from '@slipway/testing'
import request from 'supertest'
import { createGateway, type Gateway } from '../src/gateway.ts'
import { refusal, refused, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

const PATH = `/api/v1/deployments/${UNKNOWN_ID}/logs`

let testGateway: TestGateway
let logStream: http.Server
let upstream: { request: http.IncomingMessage; response: http.ServerResponse } | null = null
let gateway: Gateway
let server: ListeningServer

beforeAll(async () => {
  testGateway = await startGateway()
})
afterAll(() => testGateway.close())
beforeEach(async () => {
  upstream = null
  logStream = http.createServer((incoming, response) => {
    upstream = { request: incoming, response }
  })
  await new Promise<void>((resolve) => logStream.listen(0, '127.0.0.1', resolve))
  const logStreamUrl = `http://127.0.0.1:${(logStream.address() as AddressInfo).port}`
  gateway = createGateway({ ...testGateway.dependencies, logStreamUrl })
  server = await listen(gateway.app, { host: '127.0.0.1', port: 0, variable: 'none' })
})
afterEach(async () => {
  gateway.endStreams()
  logStream.closeAllConnections()
  logStream.close()
  await server.close()
})

/** Opens a stream. The result contains the text so far and whether the stream has ended. */
async function open(query = '?sse_token=t0ken&from=3', headers: Record<string, string> = {}) {
  const client = { text: '', ended: false, status: 0, abort: () => {} }
  const outgoing = http.get(
    `http://127.0.0.1:${server.port}${PATH}${query}`,
    { headers: { Authorization: 'Bearer not-for-streams', 'X-Request-Id': 'stream-1', ...headers } },
    (response) => {
      client.status = response.statusCode ?? 0
      response.on('data', (chunk) => {
        client.text += chunk
      })
      response.on('close', () => {
        client.ended = true
      })
      response.on('error', () => {})
    },
  )
  outgoing.on('error', () => {
    client.ended = true
  })
  client.abort = () => outgoing.destroy()
  await waitFor(() => upstream, { what: 'the log-stream service is asked' })
  return client
}

test('each part of a stream is passed on at once, with the query and without the access token', async () => {
  const client = await open()
  expect(upstream?.request.url).toBe(`${PATH}?sse_token=t0ken&from=3`)
  expect(upstream?.request.headers).toMatchObject({ 'x-request-id': 'stream-1' })
  expect(upstream?.request.headers).not.toHaveProperty('authorization')
  upstream?.response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  upstream?.response.write('data: 1\n\n')
  await waitFor(() => client.text === 'data: 1\n\n', { what: 'the first message' })
  upstream?.response.write('data: 2\n\n')
  await waitFor(() => client.text === 'data: 1\n\ndata: 2\n\n', { what: 'the second message' })
  upstream?.response.end()
  await waitFor(() => client.ended, { what: 'the end' })
})

test('a request is marked as counted by the limit, whatever header the client sends', async () => {
  const client = await open('?sse_token=t0ken', { [COUNTED_HEADER]: 'made up' })
  const { keys } = testGateway.dependencies
  expect(upstream !== null && isCounted(upstream.request, keys)).toBe(true)
  expect(upstream?.request.headers[COUNTED_HEADER]).toBe(countedMark(keys, `${PATH}?sse_token=t0ken`))
  client.abort()
})

test('a refusal of the log-stream service is passed on', async () => {
  const client = await open()
  upstream?.response.writeHead(401, { 'Content-Type': 'application/json' })
  upstream?.response.end('{"error":{"code":"INVALID_TOKEN","message":"spent"}}')
  await waitFor(() => client.ended, { what: 'the answer' })
  expect(client.status).toBe(401)
  expect(client.text).toContain('INVALID_TOKEN')
})

test('a client that disconnects ends the request to the log-stream service', async () => {
  const client = await open()
  let left = false
  upstream?.response.once('close', () => {
    left = true
  })
  upstream?.response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  upstream?.response.write('data: 1\n\n')
  await waitFor(() => client.text !== '', { what: 'the first message' })
  client.abort()
  await waitFor(() => left, { what: 'the other side is closed' })
})

test('a stream that breaks behind the gateway breaks for its client', async () => {
  const client = await open()
  upstream?.response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  upstream?.response.write('data: 1\n\n')
  await waitFor(() => client.text !== '', { what: 'the first message' })
  upstream?.response.destroy()
  await waitFor(() => client.ended, { what: 'the end' })
})

test('stopping ends open streams', async () => {
  const client = await open()
  upstream?.response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  upstream?.response.write('data: 1\n\n')
  await waitFor(() => client.text !== '', { what: 'the first message' })
  gateway.endStreams()
  await waitFor(() => client.ended, { what: 'the end' })
})

test('a stream without the log-stream service is 503 in the standard format', async () => {
  const { app } = createGateway({ ...testGateway.dependencies, logStreamUrl: 'http://127.0.0.1:1' })
  const response = await request(app).get(`${PATH}?sse_token=x`)
  expect(refusal(response)).toEqual(refused(503, 'SERVICE_UNAVAILABLE'))
})
