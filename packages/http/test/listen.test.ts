import http from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { type ListeningServer, listen } from '../src/index.ts'

let server: ListeningServer | undefined
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

afterEach(async () => {
  agent.destroy()
  await server?.close()
})

/** Sends one request over the kept connection and returns what the response says about the connection. */
const ask = () =>
  new Promise<{ status: number | undefined; connection: string | undefined; reused: boolean }>((resolve, reject) => {
    const request = http.get({ agent, port: server?.port, host: '127.0.0.1' }, (response) => {
      const { statusCode: status, headers } = response
      response.resume().once('end', () => {
        // The agent gets its socket back in the next turn of the event loop.
        setImmediate(() => resolve({ status, connection: headers.connection, reused: request.reusedSocket }))
      })
    })
    request.once('error', reject)
  })

test('a stopping server answers requests and closes each connection with its answer', async () => {
  const stopping = new AbortController()
  server = await listen((_request, response) => response.end('here'), {
    host: '127.0.0.1',
    port: 0,
    variable: 'none',
    stopping: stopping.signal,
  })
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', reused: false })
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', reused: true })
  stopping.abort()
  expect(await ask()).toEqual({ status: 200, connection: 'close', reused: true })
  expect(await ask()).toEqual({ status: 200, connection: 'close', reused: false })
})

test('a connection without its first request may be idle as long as one that has carried requests', async () => {
  server = await listen((_request, response) => response.end(), { host: '127.0.0.1', port: 0, variable: 'none' })
  const { keepAliveTimeout, headersTimeout } = server.server
  // Node has no other time limit for a connection without a request.
  expect(headersTimeout).toBeGreaterThanOrEqual(keepAliveTimeout)
})
