import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Sshd, startSshd, startTcpProxy } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { serverOf } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

const bridge = new FakeBridge()
const instance = new TestInstance(bridge)
let sshd: Sshd

beforeAll(async () => {
  sshd = await startSshd()
  await bridge.listen()
  await instance.start({ SLIPWAY_PARALLEL_LIMIT: '2' })
})

afterAll(async () => {
  await instance.remove()
  await bridge.close()
  await sshd.stop()
  expect(bridge.problems).toEqual([])
})

function target(name: string) {
  const { port, username, privateKey: private_key } = sshd
  return { name, connection: { type: 'ssh' as const, host: '127.0.0.1', port, username, private_key } }
}

test('a run on ssh targets reports host keys and seen targets, and rolls back the failed target', async () => {
  const spec = specOf({
    targets: [target('one'), target('two')],
    override_variables: { greeting: `it's` },
    actions: [
      { script: 'echo {{ greeting }} "$SLIPWAY_VAR_GREETING" "$SLIPWAY_TARGET_NAME"', rollback_script: 'echo undone' },
      { script: '[ "$SLIPWAY_TARGET_NAME" = one ]' },
    ],
    options: { target_mode: 'parallel', rollback_strategy: 'failed_target_only' },
  })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'rolled_back' })
  expect([...bridge.output(spec)].sort()).toEqual([`it's it's one`, `it's it's two`, 'undone'])
  expect(
    bridge
      .eventsOf(spec, 'host_key')
      .map(({ target: index }) => index)
      .sort(),
  ).toEqual([0, 1])
  expect(
    bridge
      .eventsOf(spec, 'target_seen')
      .map(({ target: index }) => index)
      .sort(),
  ).toEqual([0, 1])
  expect(bridge.eventsOf(spec, 'host_key')[0]?.host_key).toMatch(/^ssh-ed25519 AAAA/)
})

test.each([
  ['parallel', true],
  [{ rolling: { batch_size: 2 } }, false],
] as const)(
  'target mode %j: the instance connects to the next target ahead of its turn: %s',
  async (target_mode, ahead) => {
    const proxy = await startTcpProxy(`tcp://127.0.0.1:${sshd.port}`)
    let greeted = false
    proxy.onSent((bytes) => {
      greeted ||= bytes.includes('SSH-2.0')
    })
    const gate = path.join(instance.folder, JSON.stringify(target_mode).replace(/\W/g, ''))
    const third = target('three')
    const spec = specOf({
      targets: [
        target('one'),
        target('two'),
        { ...third, connection: { ...third.connection, port: Number(new URL(proxy.url).port) } },
      ],
      actions: [{ script: `echo up; until [ -e ${gate} ]; do sleep 0.05; done` }],
      options: { target_mode },
    })
    await bridge.startRun(spec)
    await eventually('two run', () => bridge.output(spec).length === 2)
    if (ahead) await eventually('the third is connected to', () => greeted)
    else await new Promise((resolve) => setTimeout(resolve, 500))
    expect(greeted).toBe(ahead)
    expect(existsSync(gate)).toBe(false)
    writeFileSync(gate, '')
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    await proxy.close()
  },
)

test('a lost connection fails the attempt, and the next attempt opens a new connection', async () => {
  const spec = specOf({
    targets: [target('one')],
    actions: [{ script: 'echo "server $PPID"; [ "$SLIPWAY_ATTEMPT" -gt 1 ] || sleep 600', max_retries: 1 }],
  })
  await bridge.startRun(spec)
  const server = await eventually('it runs', () => /^server (\d+)$/.exec(bridge.output(spec)[0] ?? '')?.[1])
  process.kill(serverOf(Number(server)), 'SIGKILL')
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  const [told] = bridge.lines(spec).filter(({ stream }) => stream === 'system')
  expect(told?.text).toBe(
    `action-0 on one failed: connection to 127.0.0.1:${sshd.port} was lost while the command ran; next attempt (2 of 2) in 1 s`,
  )
  // The first key is reported once, and later connections expect it.
  expect(bridge.eventsOf(spec, 'host_key')).toHaveLength(1)
})

test('a changed host key fails the step with both fingerprints', async () => {
  const first = specOf({ targets: [target('one')], actions: [{ script: 'true' }] })
  await bridge.startRun(first)
  await bridge.finished(first)
  const host_key = bridge.eventsOf(first, 'host_key')[0]?.host_key ?? ''
  await sshd.changeHostKey()
  const { name, connection } = target('one')
  const spec = specOf({ targets: [{ name, connection: { ...connection, host_key } }], actions: [{ script: 'true' }] })
  await bridge.startRun(spec)
  expect((await bridge.finished(spec)).error_message).toMatch(
    /^Action "action-0" failed on target "one": host key of 127\.0\.0\.1:\d+ changed: expected SHA256:\S+, got SHA256:\S+$/,
  )
})
