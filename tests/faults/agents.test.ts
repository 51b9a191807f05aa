import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type AgentProcess,
  type Api,
  createAction,
  createGate,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Suite,
  startAgent,
  startSuite,
  startTcpProxy,
  type TcpProxy,
  waitFor,
} from '@slipway/testing'
import { AgentHost, Kill } from '../../services/orchestration-instance/test/support/agent-host.ts'
import { processesWith } from '../../services/orchestration-instance/test/support/processes.ts'
import { eventually } from '../../services/orchestration-instance/test/support/wait.ts'

describe('an agent that dies, or loses its instances for longer than SLIPWAY_AGENT_ORPHAN_SECONDS, which is 5 s here', () => {
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
})

describe('a suite with an agent', () => {
  let suite: Suite
  let api: Api
  let agent: AgentProcess
  let target: string

  beforeAll(async () => {
    suite = await startSuite()
    api = await loginToSuite(suite)
    const { body } = await api.post('/targets', { name: 'db-1', connection: { type: 'agent' } })
    target = body.id
    const { body: granted } = await api.post(`/targets/${target}/agent-token`)
    agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token: granted.token })
  })
  afterEach(() => suite.restore())

  afterAll(async () => {
    await suite?.stop()
    await agent?.remove()
  })

  const deploy = async (definition: object, fields: object = {}) => {
    const action_id = await createAction(api, definition)
    const { body } = await api.post('/deployments', { action_id, target_ids: [target], ...fields })
    return body.deployment_id as string
  }
  const ended = async (definition: object, fields: object = {}) => {
    const id = await deploy(definition, fields)
    const end = await deploymentEnd(api, id)
    return { ...end, lines: (await logHistory(api, id)).map(({ message }) => message) }
  }

  test('a killed agent fails the running attempt; a stopped agent fails steps with its address in the error', async () => {
    const script = 'echo begun; test "$SLIPWAY_ATTEMPT" = 2 || sleep 600'
    const id = await deploy({ script, max_retries: 1 })
    await waitFor(async () => (await logHistory(api, id)).length > 0, { what: 'the command to run' })
    await agent.end('SIGKILL')
    await agent.start()
    expect((await deploymentEnd(api, id)).state).toBe('success')
    const lines = (await logHistory(api, id)).map(({ message }) => message)
    expect(lines.filter((line) => line === 'begun')).toHaveLength(2)
    expect(lines.some((line) => line.includes('the agent was restarted while the command ran'))).toBe(true)
    await agent.end('SIGTERM')
    const away = await ended({ script: 'true' }).finally(() => agent.start())
    expect(away.plan.steps[0].error_message).toBe(`the agent on db-1 (127.0.0.1:${agent.port}) refused the connection`)
    expect((await api.get(`/deployments/${away.id}/analysis`)).body).toMatchObject([
      { failure_reason: 'target_refused', analysis: { fingerprint: 'target-refused' } },
    ])
    expect((await ended({ script: 'true' })).state).toBe('success')
  })

  test('after an instance is killed, its command does not run beside the next attempt', async () => {
    const mark = randomUUID()
    const script = 'test "$SLIPWAY_ATTEMPT" = 2 && exec echo again; sleep 600'
    const id = await deploy({ script, env: { MARK: mark }, max_retries: 1 })
    await waitFor(() => processesWith(mark).length > 0, { what: 'the command to run' })
    await suite.kill('orchestration-instance')
    await suite.start('orchestration-instance')
    expect((await deploymentEnd(api, id)).state).toBe('success')
    expect(processesWith(mark)).toEqual([])
  })

  test('after an instance is killed, its command without further attempts is killed', async () => {
    const mark = randomUUID()
    const id = await deploy({ script: 'sleep 600', env: { MARK: mark } })
    await waitFor(() => processesWith(mark).length > 0, { what: 'the command to run' })
    await suite.kill('orchestration-instance')
    await suite.start('orchestration-instance')
    expect((await deploymentEnd(api, id)).state).toBe('failed')
    await waitFor(() => processesWith(mark).length === 0, { what: 'the command to end' })
  })
})
