import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { Kill } from '@slipway/commands'
import { hashToken, Semaphore } from '@slipway/runtime'
import { createGate, freePort, startTcpProxy, type TcpProxy } from '@slipway/testing'
import { AgentHost } from './support/agent-host.ts'
import { commandOf } from './support/commands.ts'
import { FakeBridge } from './support/fake-bridge.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

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

describe('a command', () => {
  test('runs with its environment, interpreter and working directory, and its end is reported', async () => {
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

  test('does not get the environment of the agent', async () => {
    const { stdout } = await run({ script: 'env' })
    expect(stdout).not.toContain('SLIPWAY_AGENT')
  })

  test('tells how many processes were killed that it left in the background', async () => {
    expect((await run({ script: 'sleep 600 & sleep 600 & exit 2' })).end).toMatchObject({ exitCode: 2, leftovers: 2 })
  })

  test('gets files, and each content is sent once', async () => {
    const source = place('content')
    writeFileSync(source, Buffer.alloc(3_000_000, 'x'))
    const content = hashToken('x'.repeat(3_000_000))
    const files = [{ content, path: 'deep/file', mode: '0640', source }]
    const script = 'stat -c %a deep/file; wc -c <deep/file'
    expect((await run({ script, files })).stdout).toBe('640\n3000000\n')
    rmSync(source)
    expect((await run({ script, files })).stdout).toBe('640\n3000000\n')
  })

  test('whose file was damaged on the target fails, and the next attempt transfers it again', async () => {
    const source = place('content')
    writeFileSync(source, 'right')
    const content = hashToken('right')
    const files = [{ content, path: 'file', mode: '0600', source }]
    await run({ files })
    writeFileSync(path.join(host.agent.folder, 'content', content), 'wrong')
    await expect(run({ files })).rejects.toThrow('the file file was damaged on the disk of the target')
    expect((await run({ script: 'cat file', files })).stdout).toBe('right')
  })

  test('that writes more than the spool holds is slowed down, and no output is lost', async () => {
    let held = 0
    const slow = async () => {
      held += 1
      if (held % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { stdout, stderr } = await run({ script: 'seq 1 400000; seq 1 5 >&2' }, { onOutput: slow })
    expect(hashToken(stdout)).toBe(hashToken(Array.from({ length: 400_000 }, (_, n) => `${n + 1}\n`).join('')))
    expect(stderr).toBe('1\n2\n3\n4\n5\n')
  })

  test('that cannot start fails with the reason', async () => {
    await expect(run({ workingDirectory: '/nowhere' })).rejects.toThrow(
      'the working directory /nowhere does not exist on the target',
    )
  })

  test('starts once, however often it is sent', async () => {
    const file = place('starts')
    const identity = { ...commandOf({}).identity, deploymentId: randomUUID() }
    const parts = { script: `echo start >>${file}; sleep 0.5; echo out`, identity }
    // The second call may find the command forgotten.
    const both = await Promise.allSettled([run(parts), run(parts)])
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
    expect(both.some((each) => each.status === 'fulfilled' && each.value.stdout === 'out\n')).toBe(true)
    // The agent still knows that the command ran after its output was fetched and forgotten.
    await expect(run(parts)).rejects.toThrow('no longer knows the command')
    expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
  })
})

describe('a kill', () => {
  test.each([
    ['with TERM', 'trap "echo asked; exit 0" TERM; sleep 600 & wait', 10_000, 'asked\n'],
    ['with KILL after an ignored TERM', 'trap "" TERM; (trap "" TERM; sleep 600) & while :; do sleep 1; done', 500, ''],
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

  test('before the start prevents the start', async () => {
    const file = place('never')
    const abort = new AbortController()
    abort.abort(new Kill('enough', 0))
    await expect(run({ script: `touch ${file}` }, { signal: abort.signal })).rejects.toThrow('enough')
    expect(existsSync(file)).toBe(false)
  })
})

describe('a lost link', () => {
  test.each(['cut', 'frozen', 'refused'])(
    '%s in the middle of the output loses no line and repeats none',
    async (how) => {
      const output: Buffer[] = []
      const gate = createGate({ folder })
      const running = run({ script: `seq 1 1000; ${gate.script}; seq 1001 2000` }, { address: proxied(), output })
      await eventually('the first lines are there', () => lines(Buffer.concat(output).toString()).length > 5)
      if (how === 'cut') proxy.cut()
      else if (how === 'frozen') proxy.freeze()
      else proxy.refuse(true)
      gate.open()
      await new Promise((resolve) => setTimeout(resolve, 300))
      if (how === 'cut') proxy.cut()
      else if (how === 'frozen') proxy.resume()
      else proxy.refuse(false)
      const { end, stdout } = await running
      expect(end.exitCode).toBe(0)
      expect(lines(stdout)).toEqual(Array.from({ length: 2_000 }, (_, n) => String(n + 1)))
    },
  )

  test('during the start does not start the command twice', async () => {
    const file = place('starts')
    proxy.freeze()
    const running = run({ script: `echo start >>${file}` }, { address: proxied() })
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.cut()
    proxy.resume()
    const outcome = await running.catch((error: Error) => error)
    if (outcome instanceof Error) expect(existsSync(file)).toBe(false)
    else expect(lines(readFileSync(file, 'utf8'))).toEqual(['start'])
  })
})

test('an agent that is not there gives the error that it refused the connection', async () => {
  const port = await freePort()
  await expect(run({}, { address: host.address(port) })).rejects.toThrow(
    `the agent on db-1 (127.0.0.1:${port}) refused the connection`,
  )
})

describe('another run of the deployment', () => {
  test('under a higher epoch kills the commands of the former run before it starts', async () => {
    const mark = randomUUID()
    const deploymentId = randomUUID()
    const of = (epoch: number) => ({ ...commandOf({}).identity, deploymentId, epoch })
    const former = run({ script: 'sleep 600', environment: { MARK: mark }, identity: of(1) })
    const ended = expect(former).rejects.toThrow('another command of its deployment took its place')
    await eventually('the former runs', () => processesWith(mark).length > 0)
    const script = `grep -lsa ${mark} /proc/[0-9]*/environ | wc -l`
    // The script itself has no mark in its environment.
    expect((await run({ script, identity: of(2) })).stdout).toBe('0\n')
    await ended
    const late = { ...of(1), attempt: 1 }
    await expect(run({ identity: late })).rejects.toThrow('Another instance has a newer lease of the deployment')
  })

  test('on another instance kills the commands of the lost instance, also where it starts no command itself', async () => {
    const mark = randomUUID()
    const took = new FakeBridge()
    await took.listen()
    const instance = new TestInstance(took)
    try {
      await instance.start()
      const spec = specOf({
        epoch: 2,
        steps: [{ target: 0, action: 0, retry_count: 0, state: 'failed' }],
        targets: [{ name: 'db-1', connection: { type: 'agent', agent: host.address() } }],
        actions: [{ script: 'true' }],
      })
      const identity = { ...commandOf({}).identity, deploymentId: spec.deployment_id }
      const former = run({ script: 'sleep 600', environment: { MARK: mark }, identity })
      const ended = expect(former).rejects.toThrow('killed: its deployment was given to another instance')
      await eventually('the former runs', () => processesWith(mark).length > 0)
      await took.startRun(spec)
      await ended
      expect(processesWith(mark)).toEqual([])
      expect(await took.finished(spec)).toMatchObject({ outcome: 'failed' })
    } finally {
      await instance.remove()
      await took.close()
    }
    expect(took.problems).toEqual([])
  })

  test('waits for the semaphore before it kills the commands of the former run', async () => {
    const until = createGate({ folder })
    const of = (deploymentId: string, epoch: number) => ({ ...commandOf({}).identity, deploymentId, epoch })
    const [first, second] = [randomUUID(), randomUUID()]
    const abandoning = new Semaphore(1)
    let leave = () => {}
    const turn = abandoning.run(() => new Promise<void>((resolve) => (leave = resolve)))
    const former = run({ script: until.script, identity: of(first, 1) })
    const mark = randomUUID()
    const lasting = run({ script: 'sleep 600', environment: { MARK: mark }, identity: of(second, 1) })
    const ended = expect(lasting).rejects.toThrow('killed: its deployment was given to another instance')
    await eventually('the former runs', () => processesWith(mark).length > 0)
    const transport = host.transport({ abandoning })
    for (const deploymentId of [first, second]) transport.abandon(of(deploymentId, 2))
    // A command does not use the semaphore, so it reaches the agent meanwhile.
    expect((await run({ script: 'sleep 0.5' })).end).toMatchObject({ exitCode: 0 })
    until.open()
    expect(await former).toMatchObject({ end: { exitCode: 0 } })
    leave()
    await Promise.all([ended, turn])
  })
})
