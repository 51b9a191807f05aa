import { randomUUID } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import { FakeBridge, JOIN_TOKEN } from './support/fake-bridge.ts'
import { InstanceProcess } from './support/instance-process.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { eventually } from './support/wait.ts'

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

const identityFile = () => path.join(instance.folder, 'identity.json')
const identity = () => JSON.parse(readFileSync(identityFile(), 'utf8'))
const says = (text: string) => eventually(`the instance says: ${text}`, () => instance.output.includes(text))
const exited = () => eventually('the instance ends', () => !instance.isRunning)
const timesSaid = (text: string) => instance.output.split(text).length - 1
const COMMAND = 'slipway instances join-token'

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
    await instance.end('SIGTERM')
    writeFileSync(instance.tokenFile, '')
    await instance.start()
    await instance.end('SIGKILL')
    rmSync(instance.tokenFile)
    await instance.start({ SLIPWAY_JOIN_TOKEN_FILE: '/nonexistent/token' })
    await instance.end('SIGKILL')
    await instance.start({ SLIPWAY_JOIN_TOKEN_FILE: '' })
    expect(bridge.joinCalls).toBe(1)
  })

  test('can be read from standard input, and is not in the environment of commands', async () => {
    await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: '-' }, { input: `${JOIN_TOKEN}\n` })
    await eventually('the instance sends a sync', () => bridge.syncs.length > 0)
    const spec = specOf({ actions: [{ script: 'env' }] })
    await bridge.startRun(spec)
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    const output = bridge.output(spec).join('\n')
    expect(output).not.toContain(JOIN_TOKEN)
    expect(output).not.toContain('JOIN')
  })
})

describe('without a valid token, the instance says what to do:', () => {
  test('it ends without the setting', async () => {
    await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: '' })
    await exited()
    expect(instance.output).toContain('SLIPWAY_JOIN_TOKEN_FILE is missing')
    expect(instance.output).toContain(COMMAND)
    expect(bridge.joinCalls).toBe(0)
  })

  test('it ends with empty standard input or a wrong token there', async () => {
    for (const input of ['', 'wrong']) {
      await instance.launch({ SLIPWAY_JOIN_TOKEN_FILE: '-' }, { input })
      await exited()
      expect(instance.output).toContain('standard input')
    }
    expect(instance.output).toContain(COMMAND)
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
    await sleep(3_000)
    expect([bridge.joinCalls, timesSaid('refuses the token')]).toEqual([1, 1])
    writeFileSync(instance.tokenFile, JOIN_TOKEN)
    await eventually('the instance sends a sync', () => bridge.syncs.length > 0)
  })

  test('it logs a refusal for another reason and retries seldom', async () => {
    bridge.refusesJoins = { status: 409, code: 'CONFLICT' }
    await instance.launch()
    await says('refuses to let this instance join: refused by the test: CONFLICT')
    await sleep(2_000)
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
    await sleep(3_000)
    expect([bridge.joinCalls, bridge.syncs.length]).toEqual([1, syncs])
    expect(instance.isRunning).toBe(true)
  })

  test('joins again with a new token, also after a restart', async () => {
    await instance.start()
    remove()
    await says('was used already')
    await instance.end('SIGTERM')
    await instance.launch()
    await sleep(2_000)
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
    await sleep(3_000)
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
    await instance.end('SIGTERM')
    await instance.launch({ SLIPWAY_INSTANCE_NAME: 'another' })
    await exited()
    expect(instance.output).toMatch(/SLIPWAY_INSTANCE_NAME differs from under-test/)
  })

  test('of the previous version keeps its membership, and the instance exchanges its credential at once', async () => {
    bridge.credential = 'credential-of-before'
    const enrolment = {
      ...{
        instance_id: bridge.instanceId,
        credential: bridge.credential,
        heartbeat_seconds: 5,
        lost_after_seconds: 30,
      },
      as: { name: 'under-test', version: SLIPWAY_VERSION, base_url: 'http://127.0.0.1:1', capacity: 1, labels: {} },
    }
    const journal_key = `journal:${Buffer.alloc(32, 1).toString('base64')}`
    writeFileSync(identityFile(), JSON.stringify({ callback_token: 'x', journal_key, enrolment }))
    chmodSync(identityFile(), 0o600)
    await instance.start()
    await eventually('the credential is exchanged', () => bridge.credential !== 'credential-of-before')
    expect(bridge.joinCalls).toBe(0)
    expect(identity()).toMatchObject({ journal_key, membership: { instance_id: bridge.instanceId } })
  })
})
