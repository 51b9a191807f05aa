import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createGate, startTcpProxy, type TcpProxy } from '@slipway/testing'
import { AgentHost, Kill } from '../../services/orchestration-instance/test/support/agent-host.ts'
import { processesWith } from '../../services/orchestration-instance/test/support/processes.ts'
import { eventually } from '../../services/orchestration-instance/test/support/wait.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-agent-test-'))
let host: AgentHost
let proxy: TcpProxy

beforeAll(async () => {
  host = await AgentHost.start()
  proxy = await startTcpProxy(`tcp://127.0.0.1:${host.agent.port}`)
})
afterEach(() => host?.closeTransports())
afterAll(async () => {
  // After a failed start, some of these are missing.
  await proxy?.close()
  await host?.remove()
  rmSync(folder, { recursive: true, force: true })
})

const proxied = () => host.address(Number(new URL(proxy.url).port))
const run: AgentHost['run'] = (parts, options) => host.run(parts, options)
const lines = (text: string) => text.split('\n').filter((line) => line !== '')
const place = (name: string) => path.join(folder, `${name}-${randomUUID()}`)

// A real agent that is killed, or loses all its instances for longer than SLIPWAY_AGENT_ORPHAN_SECONDS, which is 5 s here.

test('a command runs on while it is silent, or its output is not read, for longer than the orphan timeout', async () => {
  const silent = run({ script: 'sleep 7; echo done' })
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 7_000))
  const untaken = run({ script: 'echo begun; sleep 8' }, { onOutput: pause })
  expect([await silent, await untaken]).toMatchObject([
    { end: { exitCode: 0 }, stdout: 'done\n' },
    { end: { exitCode: 0 }, stdout: 'begun\n' },
  ])
})

test('a kill without a connection to the agent is unconfirmed, and the agent kills the command by itself', async () => {
  const mark = randomUUID()
  const abort = new AbortController()
  const running = run(
    { script: 'sleep 600', environment: { MARK: mark } },
    { address: proxied(), signal: abort.signal },
  )
  await eventually('the command runs', () => processesWith(mark).length > 0)
  proxy.refuse(true)
  abort.abort(new Kill('enough', 500))
  expect((await running).end).toEqual({ exitCode: null, signal: null, confirmed: false })
  await eventually('nobody asks about it, so it is killed', () => processesWith(mark).length === 0)
  proxy.refuse(false)
})

test('a link that does not come back makes the agent kill the command and report the kill later', async () => {
  const mark = randomUUID()
  const running = run({ script: 'echo begun; sleep 600', environment: { MARK: mark } }, { address: proxied() })
  const failing = expect(running).rejects.toThrow('killed: no instance asked about it for 5 s')
  await eventually('the command runs', () => processesWith(mark).length > 0)
  proxy.refuse(true)
  await eventually('it is killed', () => processesWith(mark).length === 0)
  proxy.refuse(false)
  await failing
})

describe('an agent that dies', () => {
  test('while a command runs kills the command, and reports the kill and the output after its restart', async () => {
    const mark = randomUUID()
    const file = place('starts')
    const output: Buffer[] = []
    const script = `echo start >>${file}; seq 1 2000; sleep 600 & wait`
    const running = run({ script, environment: { MARK: mark } }, { output })
    const failing = expect(running).rejects.toThrow('the agent was restarted while the command ran')
    await eventually('its output is there', () => Buffer.concat(output).toString().endsWith('2000\n'))
    await host.agent.end('SIGKILL')
    await eventually('nothing of it is left', () => processesWith(mark).length === 0)
    await host.agent.start()
    await failing
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
    expect(lines(Buffer.concat(output).toString())).toEqual(Array.from({ length: 2_000 }, (_, n) => String(n + 1)))
  })

  test('after a command has ended sends the output and the end after its restart', async () => {
    const done = place('done')
    proxy.refuse(false)
    const output: Buffer[] = []
    const running = run({ script: `echo one; sleep 1; echo two; touch ${done}` }, { address: proxied(), output })
    await eventually('it has begun', () => Buffer.concat(output).length > 0)
    proxy.refuse(true)
    await eventually('it has ended', () => existsSync(done))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await host.agent.end('SIGKILL')
    await host.agent.start()
    proxy.refuse(false)
    const { end, stdout } = await running
    expect({ end, stdout }).toEqual({ end: { exitCode: 0, signal: null, confirmed: true }, stdout: 'one\ntwo\n' })
  })
})

test('a second agent on a used port exits with an error and does not disturb the first agent', async () => {
  const until = createGate({ folder })
  const output: Buffer[] = []
  const running = run({ script: `echo begun; ${until.script}; touch inner && echo ended` }, { output })
  await eventually('it has begun', () => Buffer.concat(output).length > 0)
  const program = path.resolve(import.meta.dirname, '../../services/target-agent/dist/bundle.js')
  const second = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SLIPWAY_AGENT_STATE_DIR: host.agent.folder,
      SLIPWAY_AGENT_HOST: '127.0.0.1',
      SLIPWAY_AGENT_PORT: String(host.agent.port),
    }
    execFile(process.execPath, [program], { env }, (error, _stdout, stderr) => resolve({ code: error?.code, stderr }))
  })
  expect(second.stderr).toContain(
    `SLIPWAY_AGENT_PORT names 127.0.0.1:${host.agent.port}, which is in use: choose another port`,
  )
  expect(second.code).toBe(78)
  until.open()
  expect(await running).toMatchObject({ end: { exitCode: 0 }, stdout: 'begun\nended\n' })
})
