import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { SyncRequest } from '@slipway/contracts'
import { BridgeConnections } from '@slipway/runtime'
import { startTcpProxy, testLogger } from '@slipway/testing'
import { BridgeClient, BridgeError, FencedError, UnauthorizedError } from '../src/bridge/bridge-client.ts'

let answer: (response: http.ServerResponse, body: string) => void
let client: BridgeClient
let accepted = 0
const connections = new BridgeConnections({ caFile: undefined, urlSetting: 'none', logger: testLogger })
const server = http.createServer((request, response) => {
  let body = ''
  request.on('data', (piece) => {
    body += String(piece)
  })
  request.on('end', () => answer(response, body))
})
server.on('connection', () => {
  accepted += 1
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  client = new BridgeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections)
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const SYNC: SyncRequest = {
  version: '1.0.0',
  capacity: 1,
  labels: {},
  wait_seconds: 5,
  accepts_runs: true,
  runs: [],
  declined: [],
  refused: [],
  stopped: [],
  probe_slots: 0,
  probes: [],
}

const send = (events = '[]') => client.events('some-run', 'secret', 1, { first: 7, events, afterStop: false })

const answering = (status: number, text: string) => {
  answer = (response) => response.writeHead(status).end(text)
}

test('sends batches unchanged over one connection', async () => {
  const bodies: string[] = []
  answer = (response, body) => {
    bodies.push(body)
    response.end('{"next_event":8}')
  }
  expect(await send('["grün 🚀"]')).toEqual({ next_event: 8 })
  expect(await send()).toEqual({ next_event: 8 })
  expect(bodies).toEqual([
    '{"epoch":1,"first_event":7,"events":["grün 🚀"]}',
    '{"epoch":1,"first_event":7,"events":[]}',
  ])
  expect(accepted).toBe(1)
})

test('after one silent sync, all connections are new', async () => {
  const { port } = server.address() as AddressInfo
  const proxy = await startTcpProxy(`http://127.0.0.1:${port}`)
  const through = new BridgeClient(proxy.url, connections, { silentSyncMs: 200 })
  const sendThrough = () => through.events('some-run', 'secret', 1, { first: 7, events: '[]', afterStop: false })
  const sync = async () => (await through.sync('secret', SYNC, new AbortController().signal)).body
  try {
    answer = (response, body) => {
      if (body !== JSON.stringify(SYNC)) return response.end('{"next_event":8}')
      response.flushHeaders()
      setTimeout(() => response.write(' '), 150)
      setTimeout(
        () => response.end('{"version":"1.0.0","lost_after_seconds":30,"start":[],"stop":[],"probes":[]}'),
        300,
      )
    }
    await Promise.all([sendThrough(), sync()])
    proxy.silence()
    await expect(sync()).rejects.toThrow('the bridge gave no complete answer within 200 ms')
    await Promise.all([sendThrough(), sync()])
  } finally {
    await proxy.close()
  }
})

test('throws a different error for each kind of refusal', async () => {
  answering(401, '{}')
  await expect(send()).rejects.toThrow(UnauthorizedError)
  answering(409, '{"error":{"code":"FENCED","message":"The lease has ended"}}')
  await expect(send()).rejects.toThrow(FencedError)
  answering(502, '<html>a proxy speaks</html>')
  await expect(send()).rejects.toThrow(new BridgeError(502, 'the bridge answered 502'))
  answering(302, '')
  await expect(send()).rejects.toThrow(new BridgeError(302, 'the bridge answered 302'))
  answering(200, '{"next_event":"many"}')
  await expect(send()).rejects.toThrow('the answer of the bridge is not valid: /next_event')
})

test('refuses an answer that breaks off or does not end', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"next_event":')
    setImmediate(() => response.destroy())
  }
  await expect(send()).rejects.toThrow('aborted')
  answer = (response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
    }
    response.writeHead(200).on('drain', more)
    more()
  }
  await expect(send()).rejects.toThrow('the answer of the bridge is longer than 4194304 bytes')
  answer = (response) => response.destroy()
  await expect(send()).rejects.toThrow('socket hang up')
})
