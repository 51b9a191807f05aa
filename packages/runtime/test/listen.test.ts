import http from 'node:http'
import { afterEach, expect, test } from '@jest/globals'
import { type ListeningServer, listen } from '../src/index.ts'

let server: ListeningServer | undefined
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

afterEach(async () => {
  agent.destroy()
  await server?.close()
})

/** One request over the connection that is kept; says what the answer says of it. */
const ask = () =>
  new Promise<{ status: number | undefined; connection: string | undefined; reused: boolean }>((resolve, reject) => {
    const request = http.get({ agent, port: server?.port, host: '127.0.0.1' }, (response) => {
      const { statusCode: status, headers } = response
      response.resume().once('end', () => {
        // The agent has its socket back a moment later.
        setImmediate(() => resolve({ ...{ status, connection: headers.connection }, reused: request.reusedSocket }))
      })
    })
    request.once('error', reject)
  })

test('while stopping, requests are answered, and each answer is the last of its connection', async () => {
  const stopping = new AbortController()
  server = await listen((_request, response) => response.end('here'), {
    ...{ host: '127.0.0.1', port: 0, variable: 'none', stopping: stopping.signal },
  })
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', reused: false })
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', reused: true })
  stopping.abort()
  expect(await ask()).toEqual({ status: 200, connection: 'close', reused: true })
  expect(await ask()).toEqual({ status: 200, connection: 'close', reused: false })
})
