import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { BridgeConnections, SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import { testLogger } from '@slipway/testing'
import { BridgeClient } from '../src/bridge/bridge-client.ts'
import { Identity } from '../src/bridge/identity.ts'
import { Joining, TOKEN_ADVICE } from '../src/bridge/join.ts'
import { joinTokenSource } from '../src/bridge/join-token.ts'
import { FakeBridge, JOIN_TOKEN } from './support/fake-bridge.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

let bridge: FakeBridge
let instance: TestInstance

beforeEach(async () => {
  bridge = new FakeBridge()
  await bridge.listen()
  instance = new TestInstance(bridge)
})
afterEach(async () => {
  await instance.remove()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

const identityFile = () => path.join(instance.folder, 'identity.json')
const identity = () => JSON.parse(readFileSync(identityFile(), 'utf8'))
const says = (text: string) => eventually(`the instance says: ${text}`, () => instance.output.includes(text))
const timesSaid = (text: string) => instance.output.split(text).length - 1
const COMMAND = 'slipway join-tokens create'
/** In this time the instance reads the token source several times. */
const SEVERAL_READS_MS = 200

describe('the join token', () => {
  test('is read from the file and not stored; only the owner can read the stored credential', async () => {
    await instance.start()
    expect(bridge.joins).toMatchObject([{ name: 'under-test', version: SLIPWAY_VERSION, labels: {} }])
    expect(identity().membership).toMatchObject({ name: 'under-test', credential: bridge.credential })
    expect((statSync(identityFile()).mode & 0o777).toString(8)).toBe('600')
    expect(readFileSync(identityFile(), 'utf8')).not.toContain(JOIN_TOKEN)
    expect(instance.output).not.toContain(JOIN_TOKEN)
  })

  test('is not needed after the join: a restarted instance syncs without the file and without the setting', async () => {
    await instance.start()
    await instance.stop()
    writeFileSync(instance.tokenFile, '')
    await instance.start()
    await instance.stop()
    rmSync(instance.tokenFile)
    await instance.start({ SLIPWAY_JOIN_TOKEN_FILE: '/nonexistent/token' })
    await instance.stop()
    await instance.start({ SLIPWAY_JOIN_TOKEN_FILE: '' })
    expect(bridge.joinCalls).toBe(1)
  })
})

describe('without a valid token, the instance says what to do:', () => {
  test('it ends without the setting', async () => {
    await expect(instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: '' })).rejects.toThrow('SLIPWAY_JOIN_TOKEN_FILE is missing')
    expect(instance.output).toContain(COMMAND)
    expect(bridge.joinCalls).toBe(0)
  })

  test.each([
    ['nothing', '', `there is no token on standard input: ${TOKEN_ADVICE}`],
    ['a wrong token', 'wrong\n', 'the bridge refuses the token from standard input: refused'],
  ])('it ends with %s on standard input', async (_what, input, message) => {
    const fatal = new AbortController()
    const connections = new BridgeConnections({ caFile: undefined, urlSetting: 'none', logger: testLogger })
    const joining = new Joining({
      bridge: new BridgeClient(bridge.url, connections),
      identity: await Identity.open(instance.folder),
      self: { name: 'under-test', version: SLIPWAY_VERSION, capacity: 1, labels: {} },
      tokens: joinTokenSource('-', Readable.from([input])),
      logger: testLogger,
      fatal: (error) => fatal.abort(error),
      readTokenMs: 20,
    })
    expect(await joining.join(fatal.signal)).toBeNull()
    expect(String(fatal.signal.reason)).toContain(message)
  })

  test('it waits for a missing file', async () => {
    const file = path.join(instance.folder, 'later')
    await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: file })
    await says(`there is no token in the file ${file}`)
    expect(instance.output).toContain(COMMAND)
    writeFileSync(file, JOIN_TOKEN)
    await eventually('the instance sends a sync', () => bridge.syncs.length > 0)
  })

  test('it sends a refused token once, and reads another one from the file', async () => {
    writeFileSync(instance.tokenFile, 'wrong')
    await instance.launch()
    await says('refuses the token')
    await sleep(SEVERAL_READS_MS)
    expect([bridge.joinCalls, timesSaid('refuses the token')]).toEqual([1, 1])
    writeFileSync(instance.tokenFile, JOIN_TOKEN)
    await eventually('the instance sends a sync', () => bridge.syncs.length > 0)
  })

  test('it logs a refusal for another reason and retries seldom', async () => {
    bridge.refusesJoins = { status: 409, code: 'CONFLICT' }
    await instance.launch()
    await says('refuses to let this instance join: refused by the test: CONFLICT')
    await sleep(SEVERAL_READS_MS)
    expect(bridge.joinCalls).toBeLessThanOrEqual(3)
  })

  test('it names a file that it cannot read', async () => {
    await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: instance.folder })
    await says(`the file ${instance.folder} cannot be read`)
  })
})

test('a join whose answer was lost is repeated with the same join key', async () => {
  bridge.losesNextAnswer = true
  await instance.start()
  const keys = bridge.joins.map(({ join_key }) => join_key)
  expect(keys).toEqual([expect.any(String), keys[0]])
})

describe('an instance that was removed', () => {
  const remove = () => {
    bridge.isRemoved = true
  }

  test('kills its commands at once, logs the removal, and does not join again with the used token', async () => {
    await instance.start()
    const mark = randomUUID()
    const spec = specOf({ actions: [{ script: 'echo up; sleep 600', env: { MARK: mark } }] })
    await bridge.startRun(spec)
    await eventually('the command runs', () => bridge.output(spec).includes('up'))
    remove()
    await says('an administrator has removed this instance')
    await eventually('no command lives', () => processesWith(mark).length === 0)
    await says('was used already')
    expect(identity().membership).toBeNull()
    const syncs = bridge.syncs.length
    await sleep(SEVERAL_READS_MS)
    expect([bridge.joinCalls, bridge.syncs.length]).toEqual([1, syncs])
    expect(instance.isRunning).toBe(true)
  })

  test('joins again with a new token, also after a restart', async () => {
    await instance.start()
    remove()
    await says('was used already')
    await instance.stop()
    await instance.launch()
    await sleep(SEVERAL_READS_MS)
    expect(bridge.joinCalls).toBe(1)
    bridge.joinTokens.add('another-token')
    writeFileSync(instance.tokenFile, 'another-token')
    const before = bridge.syncs.length
    await eventually('the instance sends a sync', () => bridge.syncs.length > before)
    const [first, second] = bridge.joins
    expect(second?.join_key).not.toBe(first?.join_key)
  })
})

describe('an instance whose credential is refused', () => {
  test('keeps the credential, retries seldom, and continues when the bridge accepts it again', async () => {
    await instance.start()
    const { membership } = identity()
    bridge.knowsNobody = true
    await says('refuses the credential')
    await eventually('the instance tries again', () => bridge.refusedSyncs > 1)
    expect([timesSaid('refuses the credential'), bridge.joinCalls]).toEqual([1, 1])
    expect(identity().membership).toEqual(membership)
    bridge.knowsNobody = false
    const before = bridge.syncs.length
    await eventually('the instance sends a sync', () => bridge.syncs.length > before)
  })

  test('joins when the file has a new token', async () => {
    await instance.start()
    bridge.credential = 'of somebody else'
    bridge.joinTokens.add('another-token')
    await says('refuses the credential')
    writeFileSync(instance.tokenFile, 'another-token')
    await eventually('the instance joins', () => bridge.joins.length === 2)
    await eventually('the new credential is stored', () => identity().membership.credential === bridge.credential)
  })
})

describe('the folder of an instance', () => {
  test('is bound to one instance name', async () => {
    await instance.start()
    await instance.stop()
    await expect(instance.launch({ SLIPWAY_INSTANCE_NAME: 'another' })).rejects.toThrow(
      'SLIPWAY_INSTANCE_NAME differs from under-test',
    )
  })
})
