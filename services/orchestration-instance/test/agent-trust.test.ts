import { randomUUID } from 'node:crypto'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { AGENT_TLS } from '@slipway/contracts'
import { AgentLink } from '../src/transports/agent/link.ts'
import { AGENT_KEY, AgentHost } from './support/agent-host.ts'
import { processesWith } from './support/processes.ts'
import { eventually } from './support/wait.ts'

let host: AgentHost

beforeAll(async () => {
  host = await AgentHost.start()
})
afterEach(() => host?.closeTransports())
afterAll(() => host?.remove())

const run: AgentHost['run'] = (parts, options) => host.run(parts, options)

test('an invalid path or query is refused, and the agent keeps running', async () => {
  const link = new AgentLink(host.address())
  for (const [asked, status] of [
    ['//', 404],
    ['/v1/commands/%', 404],
    ['/v1/commands/x/output?from=%', 400],
  ] as const) {
    expect((await link.call({ method: 'GET', path: asked, limit: 1_000 })).status).toBe(status)
  }
  link.close()
})

test('the agent refuses a connection without its key', async () => {
  const stranger = { ...host.address(), key: Buffer.alloc(32, 1).toString('base64') }
  await expect(run({}, { address: stranger })).rejects.toThrow('does not accept its key')
  await expect(run({}, { address: { ...host.address(), id: randomUUID() } })).rejects.toThrow('does not accept its key')
  await expect(fetch(`http://127.0.0.1:${host.agent.port}/v1/commands/x`)).rejects.toThrow()
})

test('the instance refuses an agent without the key', async () => {
  const impostor = https.createServer({ ...AGENT_TLS, pskCallback: () => Buffer.alloc(32, 1) })
  await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve))
  const { port } = impostor.address() as AddressInfo
  await expect(run({ script: 'echo secret' }, { address: host.address(port) })).rejects.toThrow(
    'does not accept its key',
  )
  impostor.close()
})

describe('an agent with wrong answers', () => {
  const accepted = JSON.stringify({ version: '1.0.0', orphaned_after_seconds: 5 })
  const frame = (kind: number, content: Buffer, size = content.length) => {
    const head = Buffer.alloc(5)
    head.writeUInt8(kind, 0)
    head.writeUInt32BE(size, 1)
    return Buffer.concat([head, content])
  }
  const end = (parts: object) =>
    frame(
      3,
      Buffer.from(
        JSON.stringify({ exit_code: 0, signal: null, confirmed: true, error: null, content: null, ...parts }),
      ),
    )

  /** Runs a command on a server that answers the start with `first`, and calls for output with `output`. */
  async function against(first: [number, string], output: Buffer): Promise<unknown> {
    const liar = https.createServer(
      { ...AGENT_TLS, pskCallback: () => Buffer.from(AGENT_KEY, 'base64') },
      (request, response) => {
        request.resume()
        if (request.method === 'PUT') response.writeHead(first[0]).end(first[1])
        else response.writeHead(200).end(output)
      },
    )
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
    const { port } = liar.address() as AddressInfo
    try {
      return await run({ script: 'true' }, { address: host.address(port) })
    } finally {
      liar.closeAllConnections()
      liar.close()
    }
  }
  const fitting: [number, string] = [201, accepted]

  test.each<[string, [number, string], Buffer, string]>([
    ['accepts without valid JSON', [201, '<html>'], Buffer.alloc(0), 'gave a wrong answer'],
    ['accepts with too many bytes', [201, 'x'.repeat(300_000)], Buffer.alloc(0), 'gave a wrong answer: more than'],
    ['refuses without valid JSON', [500, 'no'], Buffer.alloc(0), 'gave a wrong answer: status 500'],
    ['sends more bytes than requested', fitting, Buffer.alloc(2_000_000, 1), 'gave a wrong answer'],
    ['sends a frame without end', fitting, frame(1, Buffer.alloc(70_000), 2 ** 31), 'a frame of 2147483648 bytes'],
    ['sends a frame of an unknown kind', fitting, frame(9, Buffer.alloc(1)), 'a frame of kind 9'],
    ['reports an invalid end', fitting, frame(3, Buffer.from('{"exit_code":"0"}')), 'gave a wrong answer: an end with'],
    [
      'asks for other content',
      [409, JSON.stringify({ error: { code: 'MISSING_CONTENT', message: '', missing: ['a'.repeat(64)] } })],
      Buffer.alloc(0),
      'it asks for content that the command does not have',
    ],
    [
      'has another version',
      [
        409,
        JSON.stringify({
          error: {
            code: 'VERSION',
            message: 'The agent has version 2.0.0 and the instance 1.0.0: their major versions must match',
          },
        }),
      ],
      Buffer.alloc(0),
      'The agent has version 2.0.0 and the instance 1.0.0',
    ],
    ['sends an escape sequence in an error', fitting, end({ error: 'red\u001b[31m' }), 'red [31m'],
  ])('%s', async (_name, first, output, message) => {
    await expect(against(first, output)).rejects.toThrow(message)
  })

  test('accepts correct answers from the same server (the control of these tests)', async () => {
    const output = Buffer.concat([frame(1, Buffer.from('out')), end({ exit_code: 4 })])
    expect(await against(fitting, output)).toMatchObject({ end: { exitCode: 4 }, stdout: 'out' })
  })
})

test('a command for a target without agent fails with that reason', async () => {
  await expect(run({}, { address: null })).rejects.toThrow('no agent is enrolled for db-1')
})

test('a revoked agent kills its commands and refuses connections until the bridge accepts it again', async () => {
  const mark = randomUUID()
  const running = run({ script: 'sleep 600', environment: { MARK: mark } }).catch((error: Error) => error.message)
  await eventually('the command runs', () => processesWith(mark).length > 0)
  host.isRevoked = true
  await eventually('it is killed', () => processesWith(mark).length === 0)
  await expect(run({})).rejects.toThrow('does not accept its key')
  host.isRevoked = false
  expect(await running).toBe('killed: the agent was revoked')
  expect((await eventually('it lets in again', () => run({ script: 'echo in' }).catch(() => null))).stdout).toBe('in\n')
})
