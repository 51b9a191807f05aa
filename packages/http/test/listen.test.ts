import http from 'node:http'
import { connect } from 'node:net'
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

test('a request that is not HTTP is answered in the form of other errors', async () => {
  server = await listen((_request, response) => response.end(), { host: '127.0.0.1', port: 0, variable: 'none' })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('NOT HTTP AT ALL\r\n\r\n')
  let text = ''
  for await (const chunk of socket) text += chunk
  expect(text).toContain('HTTP/1.1 400 Bad Request')
  expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'VALIDATION_ERROR' } })
})

test('a server that closes finishes the current request, and takes no other', async () => {
  const held: http.ServerResponse[] = []
  let begun = () => {}
  const inHand = new Promise<void>((resolve) => {
    begun = resolve
  })
  const hold = (_request: http.IncomingMessage, response: http.ServerResponse) => {
    held.push(response)
    begun()
  }
  server = await listen(hold, { host: '127.0.0.1', port: 0, variable: 'none' })
  const answer = ask()
  await inHand
  const closed = server.close()
  await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow()
  held[0]?.end()
  expect(await answer).toMatchObject({ status: 200 })
  await closed
})
