import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { AGENT_TLS } from '@slipway/contracts'
import { type Command, type CommandEnd, Kill } from '@slipway/execution'
import { hashToken, Turnstile } from '@slipway/runtime'
import { type AgentProcess, startAgent, startTcpProxy, type TcpProxy } from '@slipway/testing'
import { AgentTransport } from '../src/transports/agent/agent-transport.ts'
import { type AgentAddress, AgentLink } from '../src/transports/agent/link.ts'
import { commandOf } from './support/commands.ts'
import { FakeBridge } from './support/fake-bridge.ts'
import { gate } from './support/gate.ts'
import { InstanceProcess } from './support/instance-process.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { eventually } from './support/wait.ts'

const KEY = Buffer.alloc(32, 9).toString('base64')
const AGENT_ID = randomUUID()
const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-agent-test-'))

/** The bridge as an agent sees it. */
let bridge: http.Server
let isRevoked = false
let agent: AgentProcess
let proxy: TcpProxy
const transports: AgentTransport[] = []

beforeAll(async () => {
  bridge = http.createServer((request, response) => {
    const enrolment = { agent_id: AGENT_ID, target_name: 'db-1', key: KEY, credential: 'c', heartbeat_seconds: 1 }
    const refused = isRevoked && request.url !== '/v1/agents'
    const body = refused
      ? { error: { message: 'revoked' } }
      : request.url === '/v1/agents'
        ? enrolment
        : { heartbeat_seconds: 1 }
    response.writeHead(refused ? 401 : 200).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => bridge.listen(0, '127.0.0.1', resolve))
  const { port } = bridge.address() as AddressInfo
  agent = await startAgent({
    bridgeUrl: `http://127.0.0.1:${port}`,
    token: 'token',
    settings: { SLIPWAY_AGENT_ORPHAN_SECONDS: '6', SLIPWAY_AGENT_SPOOL_MIB: '1' },
  })
  proxy = await startTcpProxy(`tcp://127.0.0.1:${agent.port}`)
}, 90_000)
afterEach(() => {
  for (const transport of transports.splice(0)) transport.close()
})
afterAll(async () => {
  // A start that failed left less.
  await proxy?.close()
  await agent?.remove()
  bridge.closeAllConnections()
  bridge.close()
  rmSync(folder, { recursive: true, force: true })
})

function addressOf(port: number): AgentAddress {
  return { id: AGENT_ID, host: '127.0.0.1', port, key: KEY }
}
const direct = () => addressOf(agent.port)
const proxied = () => addressOf(Number(new URL(proxy.url).port))

interface Outcome {
  end: CommandEnd
  stdout: string
  stderr: string
}

/** Runs a command to its end; what it wrote is collected as it comes. */
function run(
  parts: Partial<Command>,
  options: {
    address?: AgentAddress | null
    signal?: AbortSignal
    output?: Buffer[]
    onOutput?: () => Promise<void>
  } = {},
): Promise<Outcome> {
  const { address = direct(), signal = new AbortController().signal, output = [], onOutput } = options
  const transport = new AgentTransport({ targetName: 'db-1', address, abandoning: new Turnstile(1), onSeen() {} })
  transports.push(transport)
  const identity = { ...commandOf({}).identity, deploymentId: randomUUID(), ...parts.identity }
  const errors: Buffer[] = []
  const io = {
    onOutput(stream: 'stdout' | 'stderr', chunk: Buffer) {
      ;(stream === 'stdout' ? output : errors).push(chunk)
      return onOutput?.()
    },
  }
  return transport.run(commandOf({ ...parts, identity }), io, signal).then((end) => ({
    end,
    stdout: Buffer.concat(output).toString(),
    stderr: Buffer.concat(errors).toString(),
  }))
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '')
const place = (name: string) => path.join(folder, `${name}-${randomUUID()}`)

describe('a command', () => {
  test('runs with its environment, interpreter and working directory, and its end is known', async () => {
    const { end, stdout, stderr } = await run({
      script: 'console.log(process.env.X, process.cwd().endsWith("/inner")); console.error("bad"); process.exit(3)',
      interpreter: 'node',
      environment: { X: 'value' },
      workingDirectory: 'inner',
    })
    expect({ end, stdout, stderr }).toEqual({
      end: { exitCode: 3, signal: null, confirmed: true },
      stdout: 'value true\n',
      stderr: 'bad\n',
    })
  })

  test('sees nothing of the environment of the agent', async () => {
    const { stdout } = await run({ script: 'env' })
    expect(stdout).not.toContain('SLIPWAY_AGENT')
  })

  test('gets files, which are sent once', async () => {
    const source = place('content')
    writeFileSync(source, Buffer.alloc(3_000_000, 'x'))
    const content = hashToken('x'.repeat(3_000_000))
    const files = [{ content, path: 'deep/file', mode: '0640', source }]
    const script = 'stat -c %a deep/file; wc -c <deep/file'
    expect((await run({ script, files })).stdout).toBe('640\n3000000\n')
    rmSync(source)
    expect((await run({ script, files })).stdout).toBe('640\n3000000\n')
  })

  test('whose file was damaged on the target fails, and the next try brings it again', async () => {
    const source = place('content')
    writeFileSync(source, 'right')
    const content = hashToken('right')
    const files = [{ content, path: 'file', mode: '0600', source }]
    await run({ files })
    writeFileSync(path.join(agent.folder, 'content', content), 'wrong')
    await expect(run({ files })).rejects.toThrow('the file file was damaged on the disk of the target')
    expect((await run({ script: 'cat file', files })).stdout).toBe('right')
  })

  test('that writes much more than may wait is slowed down, and nothing is lost', async () => {
    let held = 0
    const slow = async () => {
      held += 1
      if (held % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { stdout, stderr } = await run({ script: 'seq 1 1500000; seq 1 5 >&2' }, { onOutput: slow })
    expect(hashToken(stdout)).toBe(hashToken(Array.from({ length: 1_500_000 }, (_, n) => `${n + 1}\n`).join('')))
    expect(stderr).toBe('1\n2\n3\n4\n5\n')
  })

  test('lives on while it writes nothing, or nobody takes what it writes, for longer than nobody may ask', async () => {
    const silent = run({ script: 'sleep 8; echo done' })
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 8_000))
    const untaken = run({ script: 'echo begun; sleep 9' }, { onOutput: pause })
    expect([await silent, await untaken]).toMatchObject([
      { end: { exitCode: 0 }, stdout: 'done\n' },
      { end: { exitCode: 0 }, stdout: 'begun\n' },
    ])
  })

  test('that cannot start says why', async () => {
    await expect(run({ workingDirectory: '/nowhere' })).rejects.toThrow(
      'the working directory /nowhere does not exist on the target',
    )
  })

  test('starts once, however often it is sent', async () => {
    const file = place('starts')
    const identity = { ...commandOf({}).identity, deploymentId: randomUUID() }
    const parts = { script: `echo start >>${file}; sleep 0.5; echo out`, identity }
    // Whoever comes second may find it forgotten.
    const both = await Promise.allSettled([run(parts), run(parts)])
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
    expect(both.some((each) => each.status === 'fulfilled' && each.value.stdout === 'out\n')).toBe(true)
    // It is known even after its output was fetched and forgotten.
    await expect(run(parts)).rejects.toThrow('no longer knows the command')
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
  })
})

describe('a kill', () => {
  test.each([
    ['that is heeded', 'trap "echo asked; exit 0" TERM; sleep 60 & wait', 10_000, 'asked\n'],
    ['that is ignored', 'trap "" TERM; (trap "" TERM; sleep 60) & while :; do sleep 1; done', 500, ''],
  ])('%s ends the whole process group', async (_name, script, graceMs, said) => {
    const mark = randomUUID()
    const abort = new AbortController()
    const running = run({ script: `echo ready; ${script}`, environment: { MARK: mark } }, { signal: abort.signal })
    await eventually('the command runs', () => processesWith(mark).length > 1)
    abort.abort(new Kill('enough', graceMs))
    const { end, stdout } = await running
    expect(end.confirmed).toBe(true)
    expect(stdout).toBe(`ready\n${said}`)
    await eventually('nothing of it is left', () => processesWith(mark).length === 0)
  })

  test('before the start means that nothing starts', async () => {
    const file = place('never')
    const abort = new AbortController()
    abort.abort(new Kill('enough', 0))
    await expect(run({ script: `touch ${file}` }, { signal: abort.signal })).rejects.toThrow('enough')
    expect(existsSync(file)).toBe(false)
  })

  test('while the agent cannot be reached is unconfirmed, and the agent ends the command by itself', async () => {
    const mark = randomUUID()
    const abort = new AbortController()
    const running = run(
      { script: 'sleep 60', environment: { MARK: mark } },
      { address: proxied(), signal: abort.signal },
    )
    await eventually('the command runs', () => processesWith(mark).length > 0)
    proxy.refuse(true)
    abort.abort(new Kill('enough', 500))
    expect((await running).end).toEqual({ exitCode: null, signal: null, confirmed: false })
    await eventually('nobody asks about it, so it is killed', () => processesWith(mark).length === 0)
    proxy.refuse(false)
  })
})

describe('a lost link', () => {
  test.each(['cut', 'frozen', 'refused'])(
    '%s in the middle of the output loses no line and repeats none',
    async (how) => {
      const output: Buffer[] = []
      const running = run(
        { script: 'for n in $(seq 1 40); do echo $n; sleep 0.05; done' },
        { address: proxied(), output },
      )
      await eventually('the first lines are there', () => lines(Buffer.concat(output).toString()).length > 5)
      if (how === 'cut') {
        for (let time = 0; time < 5; time += 1) {
          proxy.cut()
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      } else if (how === 'frozen') {
        proxy.freeze()
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        proxy.resume()
      } else {
        proxy.refuse(true)
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        proxy.refuse(false)
      }
      const { end, stdout } = await running
      expect(end.exitCode).toBe(0)
      expect(lines(stdout)).toEqual(Array.from({ length: 40 }, (_, n) => String(n + 1)))
    },
  )

  test('that does not come back kills the command, of which the agent tells when it does', async () => {
    const mark = randomUUID()
    const running = run({ script: 'echo begun; sleep 60', environment: { MARK: mark } }, { address: proxied() })
    const failing = expect(running).rejects.toThrow('killed: no instance asked about it for 6 s')
    await eventually('the command runs', () => processesWith(mark).length > 0)
    proxy.refuse(true)
    await eventually('it is killed', () => processesWith(mark).length === 0)
    proxy.refuse(false)
    await failing
  })

  test('while it starts starts it once', async () => {
    const file = place('starts')
    proxy.freeze()
    const running = run({ script: `echo start >>${file}` }, { address: proxied() })
    await new Promise((resolve) => setTimeout(resolve, 500))
    proxy.cut()
    proxy.resume()
    const outcome = await running.catch((error: Error) => error)
    if (outcome instanceof Error) expect(existsSync(file)).toBe(false)
    else expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
  })
})

describe('an agent that dies', () => {
  test('while a command runs reports it after its restart, with the output until then, and nothing runs on', async () => {
    const mark = randomUUID()
    const file = place('starts')
    const output: Buffer[] = []
    const script = `echo start >>${file}; seq 1 2000; sleep 60 & wait`
    const running = run({ script, environment: { MARK: mark } }, { output })
    const failing = expect(running).rejects.toThrow('the agent was restarted while the command ran')
    await eventually('its output is there', () => Buffer.concat(output).toString().endsWith('2000\n'))
    await agent.end('SIGKILL')
    await eventually('nothing of it is left', () => processesWith(mark).length === 0)
    await agent.start()
    await failing
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
    expect(lines(Buffer.concat(output).toString())).toEqual(Array.from({ length: 2_000 }, (_, n) => String(n + 1)))
  })

  test('after a command has ended hands its output and its end over when it is back', async () => {
    const done = place('done')
    proxy.refuse(false)
    const output: Buffer[] = []
    const running = run({ script: `echo one; sleep 1; echo two; touch ${done}` }, { address: proxied(), output })
    await eventually('it has begun', () => Buffer.concat(output).length > 0)
    proxy.refuse(true)
    await eventually('it has ended', () => existsSync(done))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await agent.end('SIGKILL')
    await agent.start()
    proxy.refuse(false)
    const { end, stdout } = await running
    expect({ end, stdout }).toEqual({ end: { exitCode: 0, signal: null, confirmed: true }, stdout: 'one\ntwo\n' })
  })

  test('is told of as such where nothing listens any more', async () => {
    await agent.end('SIGTERM')
    await expect(run({})).rejects.toThrow(`the agent on db-1 (127.0.0.1:${agent.port}) refused the connection`)
    await agent.start()
    expect((await run({ script: 'echo back' })).stdout).toBe('back\n')
  })
})

test('a second agent on the port of one that runs says so, and touches nothing that is its', async () => {
  const until = gate(folder)
  const output: Buffer[] = []
  const running = run({ script: `echo begun; ${until.wait}; touch inner && echo ended` }, { output })
  await eventually('it has begun', () => Buffer.concat(output).length > 0)
  const program = path.resolve(import.meta.dirname, '../../target-agent/dist/main.js')
  const second = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SLIPWAY_AGENT_STATE_DIR: agent.folder,
      SLIPWAY_AGENT_HOST: '127.0.0.1',
      SLIPWAY_AGENT_PORT: String(agent.port),
    }
    execFile(process.execPath, [program], { env }, (error, _stdout, stderr) => resolve({ code: error?.code, stderr }))
  })
  expect(second.stderr).toContain(
    `SLIPWAY_AGENT_PORT names 127.0.0.1:${agent.port}, which is taken: choose another port`,
  )
  expect(second.code).toBe(78)
  until.open()
  expect(await running).toMatchObject({ end: { exitCode: 0 }, stdout: 'begun\nended\n' })
})

describe('another run of the deployment', () => {
  test('under a higher epoch ends what the former left, before it starts', async () => {
    const mark = randomUUID()
    const deploymentId = randomUUID()
    const of = (epoch: number) => ({ ...commandOf({}).identity, deploymentId, epoch })
    const former = run({ script: 'trap "" TERM; sleep 60; sleep 60', environment: { MARK: mark }, identity: of(1) })
    const ended = expect(former).rejects.toThrow('another command of its deployment took its place')
    await eventually('the former runs', () => processesWith(mark).length > 0)
    const script = `grep -lsa ${mark} /proc/[0-9]*/environ | wc -l`
    // The script itself has no mark in its environment.
    expect((await run({ script, identity: of(2) })).stdout).toBe('0\n')
    await ended
    const late = { ...of(1), attempt: 1 }
    await expect(run({ identity: late })).rejects.toThrow('The deployment has been given to another instance')
  })

  test('that another instance takes over ends what the lost one left, though nothing is started there again', async () => {
    const mark = randomUUID()
    const took = new FakeBridge()
    await took.listen()
    const instance = new InstanceProcess(took)
    try {
      await instance.start()
      const spec = specOf({
        epoch: 2,
        steps: [{ target: 0, action: 0, retry_count: 0, state: 'failed' }],
        targets: [{ name: 'db-1', connection: { type: 'agent', agent: direct() } }],
        actions: [{ script: 'true' }],
      })
      const identity = { ...commandOf({}).identity, deploymentId: spec.deployment_id }
      const former = run({ script: 'sleep 60', environment: { MARK: mark }, identity })
      const ended = expect(former).rejects.toThrow('killed: its deployment was given to another instance')
      await eventually('the former runs', () => processesWith(mark).length > 0)
      await took.handOver(spec)
      await ended
      expect(processesWith(mark)).toEqual([])
      expect(await took.finished(spec)).toMatchObject({ outcome: 'failed' })
    } finally {
      await instance.remove()
      await took.close()
    }
    expect(took.problems).toEqual([])
  })

  test('waits its turn to end what the former left, when there is much of it', async () => {
    const until = gate(folder)
    const of = (deploymentId: string, epoch: number) => ({ ...commandOf({}).identity, deploymentId, epoch })
    const [first, second] = [randomUUID(), randomUUID()]
    const abandoning = new Turnstile(1)
    let leave = () => {}
    const turn = abandoning.pass(() => new Promise<void>((resolve) => (leave = resolve)))
    const former = run({ script: until.wait, identity: of(first, 1) })
    const mark = randomUUID()
    const lasting = run({ script: 'sleep 60', environment: { MARK: mark }, identity: of(second, 1) })
    const ended = expect(lasting).rejects.toThrow('killed: its deployment was given to another instance')
    await eventually('the former runs', () => processesWith(mark).length > 0)
    const transport = new AgentTransport({ targetName: 'db-1', address: direct(), abandoning, onSeen() {} })
    transports.push(transport)
    for (const deploymentId of [first, second]) transport.abandon(of(deploymentId, 2))
    // What goes past the turnstile reaches the agent meanwhile.
    expect((await run({ script: 'sleep 0.5' })).end).toMatchObject({ exitCode: 0 })
    until.open()
    expect(await former).toMatchObject({ end: { exitCode: 0 } })
    leave()
    await Promise.all([ended, turn])
  })
})

describe('who speaks', () => {
  test('what is no path is refused, and the agent lives on', async () => {
    const link = new AgentLink(direct())
    for (const [asked, status] of [
      ['//', 404],
      ['/v1/commands/%', 404],
      ['/v1/commands/x/output?from=%', 400],
    ] as const) {
      expect((await link.call({ method: 'GET', path: asked, limit: 1_000 })).status).toBe(status)
    }
    link.close()
  })

  test('without the key nobody is let in', async () => {
    const stranger = { ...direct(), key: Buffer.alloc(32, 1).toString('base64') }
    await expect(run({}, { address: stranger })).rejects.toThrow('does not accept its key')
    await expect(run({}, { address: { ...direct(), id: randomUUID() } })).rejects.toThrow('does not accept its key')
    await expect(fetch(`http://127.0.0.1:${agent.port}/v1/commands/x`)).rejects.toThrow()
  })

  test('an agent without the key is not believed', async () => {
    const impostor = https.createServer({ ...AGENT_TLS, pskCallback: () => Buffer.alloc(32, 1) })
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve))
    const { port } = impostor.address() as AddressInfo
    await expect(run({ script: 'echo secret' }, { address: addressOf(port) })).rejects.toThrow(
      'does not accept its key',
    )
    impostor.close()
  })

  describe('an agent that lies', () => {
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

    /** Answers a start with `first`, and questions for output with `output`. */
    async function against(first: [number, string], output: Buffer): Promise<unknown> {
      const liar = https.createServer(
        { ...AGENT_TLS, pskCallback: () => Buffer.from(KEY, 'base64') },
        (request, response) => {
          request.resume()
          if (request.method === 'PUT') response.writeHead(first[0]).end(first[1])
          else response.writeHead(200).end(output)
        },
      )
      await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
      const { port } = liar.address() as AddressInfo
      try {
        return await run({ script: 'true' }, { address: addressOf(port) })
      } finally {
        liar.closeAllConnections()
        liar.close()
      }
    }
    const fitting: [number, string] = [201, accepted]

    test.each<[string, [number, string], Buffer, string]>([
      ['accepts with anything', [201, '<html>'], Buffer.alloc(0), 'gave a wrong answer'],
      ['accepts at great length', [201, 'x'.repeat(300_000)], Buffer.alloc(0), 'gave a wrong answer: more than'],
      ['refuses with anything', [500, 'no'], Buffer.alloc(0), 'gave a wrong answer: status 500'],
      ['sends more than it was asked for', fitting, Buffer.alloc(2_000_000, 1), 'gave a wrong answer'],
      ['sends a frame without end', fitting, frame(1, Buffer.alloc(70_000), 2 ** 31), 'a frame of 2147483648 bytes'],
      ['sends a frame of no kind', fitting, frame(9, Buffer.alloc(1)), 'a frame of kind 9'],
      [
        'says that it ended in no way',
        fitting,
        frame(3, Buffer.from('{"exit_code":"0"}')),
        'gave a wrong answer: an end with',
      ],
      [
        'asks for other content',
        [409, JSON.stringify({ error: { code: 'MISSING_CONTENT', message: '', missing: ['a'.repeat(64)] } })],
        Buffer.alloc(0),
        'it asks for other content',
      ],
      [
        'has another version',
        [
          409,
          JSON.stringify({
            error: { code: 'VERSION', message: 'version 2.0.0 of the agent does not fit 1.0.0 of the instance' },
          }),
        ],
        Buffer.alloc(0),
        'version 2.0.0 of the agent does not fit 1.0.0',
      ],
      ['colours its reasons', fitting, end({ error: 'red\u001b[31m' }), 'red [31m'],
    ])('%s', async (_name, first, output, message) => {
      await expect(against(first, output)).rejects.toThrow(message)
    })

    test('does not before this is tried', async () => {
      const output = Buffer.concat([frame(1, Buffer.from('out')), end({ exit_code: 4 })])
      expect(await against(fitting, output)).toMatchObject({ end: { exitCode: 4 }, stdout: 'out' })
    })
  })

  test('where none is enrolled the command says so', async () => {
    await expect(run({}, { address: null })).rejects.toThrow('no agent is enrolled for db-1')
  })

  test('a revoked agent kills what it runs and lets nobody in, until the bridge takes it again', async () => {
    const mark = randomUUID()
    const running = run({ script: 'sleep 60', environment: { MARK: mark } }).catch((error: Error) => error.message)
    await eventually('the command runs', () => processesWith(mark).length > 0)
    isRevoked = true
    await eventually('it is killed', () => processesWith(mark).length === 0)
    await expect(run({})).rejects.toThrow('does not accept its key')
    isRevoked = false
    expect(await running).toBe('killed: the agent was revoked')
    expect((await eventually('it lets in again', () => run({ script: 'echo in' }).catch(() => null))).stdout).toBe(
      'in\n',
    )
  })
})
