import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { FakeBridge, JOIN_TOKEN } from '../../services/orchestration-instance/test/support/fake-bridge.ts'
import { InstanceProcess } from '../../services/orchestration-instance/test/support/instance-process.ts'
import { specOf } from '../../services/orchestration-instance/test/support/specs.ts'
import { eventually } from '../../services/orchestration-instance/test/support/wait.ts'

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
