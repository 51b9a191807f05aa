import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { completeLines, startSshd } from '@slipway/testing'
import { FakeBridge, JOIN_TOKEN } from '../../services/orchestration-instance/test/support/fake-bridge.ts'
import { InstanceProcess } from '../../services/orchestration-instance/test/support/instance-process.ts'
import { processesWith } from '../../services/orchestration-instance/test/support/processes.ts'
import { specOf } from '../../services/orchestration-instance/test/support/specs.ts'
import { eventually } from '../../services/orchestration-instance/test/support/wait.ts'

// One instance as a process that is killed or frozen, with the part of the bridge that it calls. The rules of a restart are in
// services/orchestration-instance/test/faults.test.ts.

let bridge: FakeBridge
let instance: InstanceProcess

beforeEach(async () => {
  bridge = new FakeBridge()
  await bridge.listen()
  instance = new InstanceProcess(bridge)
})

afterEach(async () => {
  await instance.remove()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

/** A file in which every script notes its starts, independently of the journal. */
function witness() {
  const file = path.join(instance.folder, `${randomUUID()}.witness`)
  return {
    note: `echo "$SLIPWAY_STEP@$SLIPWAY_TARGET_NAME $SLIPWAY_ATTEMPT" >>${file}`,
    starts: () => completeLines(file),
  }
}

test('a killed instance leaves no command running, and continues its run after a restart', async () => {
  await instance.start()
  const mark = randomUUID()
  const spec = specOf({
    actions: [
      {
        script: `echo up; [ "$SLIPWAY_ATTEMPT" -gt 1 ] || { sh -c 'sleep 600 & sleep 600' & sleep 600; }`,
        max_retries: 1,
        env: { MARK: mark },
      },
    ],
  })
  await bridge.startRun(spec)
  await eventually('it runs', () => bridge.output(spec).includes('up'))
  await instance.end('SIGKILL')
  await eventually('no command lives', () => processesWith(mark).length === 0)
  await instance.start()
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
})

test('each attempt starts at most once, although the instance is killed repeatedly and the bridge loses answers', async () => {
  const { note, starts } = witness()
  const spec = specOf({
    targets: ['one', 'two', 'three'],
    actions: ['a', 'b', 'c', 'd'].map((name) => ({
      name,
      script: `${note}; i=0; while [ $i -lt 50 ]; do echo "$SLIPWAY_STEP $i"; i=$((i+1)); done; sleep 0.2`,
      max_retries: 10,
    })),
    options: { target_mode: { rolling: { batch_size: 2 } } },
  })
  await instance.start()
  await bridge.startRun(spec)
  for (let round = 1; round <= 4; round++) {
    await eventually('it goes on', () => starts().length > round)
    bridge.losesAnswers = round % 2 === 0
    await instance.end('SIGKILL')
    await instance.start()
  }
  bridge.losesAnswers = false
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  expect(new Set(starts()).size).toBe(starts().length)
  expect(bridge.eventsOf(spec, 'step_ended').map(({ state }) => state)).toEqual(new Array(12).fill('completed'))
  for (const { target, action, attempt } of bridge.eventsOf(spec, 'step_ended')) {
    const own = bridge
      .eventsOf(spec, 'step_started')
      .filter((event) => event.target === target && event.action === action)
    expect(own.map((event) => event.attempt)).toEqual(Array.from({ length: attempt + 1 }, (_, index) => index))
  }
  const numbers = bridge.lines(spec).map(({ line }) => line)
  expect(numbers).toEqual(numbers.map((_, index) => index))
})

test('a frozen instance keeps no local or ssh command alive beyond its lease, and continues by its journal later', async () => {
  bridge.lostAfterSeconds = 10
  const sshd = await startSshd()
  try {
    await instance.start()
    const mark = randomUUID()
    const { note, starts } = witness()
    const { port, username, privateKey: private_key } = sshd
    const spec = specOf({
      targets: ['here', { name: 'there', connection: { type: 'ssh', host: '127.0.0.1', port, username, private_key } }],
      actions: [
        {
          script: `${note}; [ "$SLIPWAY_ATTEMPT" -gt 1 ] || { sleep 600 & sleep 600; }`,
          max_retries: 1,
          env: { MARK: mark },
        },
      ],
      options: { target_mode: 'parallel' },
    })
    await bridge.startRun(spec)
    await eventually('both commands run', () => starts().length === 2)
    instance.freeze(true)
    await eventually('no command lives', () => processesWith(mark).length === 0)
    expect(starts()).toHaveLength(2)
    instance.freeze(false)
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect([...starts()].sort().map((line) => line.split('@')[1])).toEqual(['here 1', 'here 2', 'there 1', 'there 2'])
  } finally {
    instance.freeze(false)
    await sshd.stop()
  }
})

test('the process reads its join token from standard input, hides it from commands, and listens on one port', async () => {
  await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: '-' }, { input: `${JOIN_TOKEN}\n` })
  await eventually('the instance sends a sync', () => bridge.syncs.length > 0)
  expect(instance.listeningPorts()).toEqual([instance.managementPort])
  expect((await fetch(`http://127.0.0.1:${instance.managementPort}/readyz`)).status).toBe(200)
  const metrics = await (await fetch(`http://127.0.0.1:${instance.managementPort}/metrics`)).text()
  expect(metrics).toContain('slipway_run_capacity 10')
  const spec = specOf({ actions: [{ script: 'env' }] })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  const output = bridge.output(spec).join('\n')
  expect(output).not.toContain(JOIN_TOKEN)
  expect(output).not.toContain('JOIN')
  expect(await instance.end('SIGTERM')).toBe(0)
})

test.each([
  ['empty standard input', { SLIPWAY_JOIN_TOKEN_FILE: '-' }, '', 1, 'there is no token on standard input'],
  ['a wrong token', { SLIPWAY_JOIN_TOKEN_FILE: '-' }, 'wrong', 1, 'refuses the token from standard input'],
  ['no setting for the token', { SLIPWAY_JOIN_TOKEN_FILE: '' }, '', 78, 'SLIPWAY_JOIN_TOKEN_FILE is missing'],
])('the process ends with %s', async (_what, settings, input, code, message) => {
  await instance.launch(settings, { input })
  await eventually('the instance ends', () => !instance.isRunning)
  expect(await instance.end('SIGTERM')).toBe(code)
  expect(instance.output).toContain(message)
})
