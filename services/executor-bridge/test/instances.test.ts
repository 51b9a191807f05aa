import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { finished, started } from './events.ts'
import {
  type BridgeWithDatabase,
  ENROLMENT_TOKEN,
  type Enrolled,
  endLease,
  enrolBody,
  enrolInstance,
  post,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

const rowOf = async (id: string) => (await bridge.database.query('SELECT * FROM instances WHERE id = $1', [id])).rows[0]

const slotsOf = async (id: string) =>
  (
    await bridge.database.query<{ slot: number; retired: boolean }>(
      'SELECT slot, retired FROM instance_slots WHERE instance_id = $1 ORDER BY slot',
      [id],
    )
  ).rows.map(({ slot, retired }) => (retired ? `${slot} retired` : `${slot}`))

const eventsOf = async (id: string) =>
  (
    await bridge.database.query<{ type: string }>(
      `SELECT type FROM outbox WHERE body->>'instance_id' = $1 ORDER BY id`,
      [id],
    )
  ).rows.map(({ type }) => type)

const beat = (instance: Enrolled, runs: { deployment_id: string; epoch: number }[] = [], version = '0.1.0') =>
  post(`${bridge.url}/v1/instances/${instance.id}/heartbeat`, instance.credential, { version, runs })

/** Moves the instance's past back, as if so many seconds had gone by. */
const age = (instance: Enrolled, seconds: number) =>
  bridge.database.query(
    `WITH l AS (UPDATE leases SET acquired_at = acquired_at - make_interval(secs => $2) WHERE instance_id = $1)
     UPDATE instances SET last_heartbeat_at = last_heartbeat_at - make_interval(secs => $2),
       enrolled_at = enrolled_at - make_interval(secs => $2) WHERE id = $1`,
    [instance.id, seconds],
  )

const isFresh = async (instance: Enrolled) =>
  (
    await bridge.database.query<{ fresh: boolean }>(
      `SELECT last_heartbeat_at > now() - interval '2 seconds' AS fresh FROM instances WHERE id = $1`,
      [instance.id],
    )
  ).rows[0]?.fresh

describe('enrolment', () => {
  test('gives a credential, slots and word to the dispatcher; secrets are not kept in clear', async () => {
    const { status, body } = await post(`${bridge.url}/v1/instances`, ENROLMENT_TOKEN, enrolBody({ capacity: 2 }))
    expect(status).toBe(201)
    expect(body).toEqual({
      instance_id: expect.any(String),
      credential: expect.any(String),
      heartbeat_seconds: 5,
      lost_after_seconds: 30,
    })
    expect(await slotsOf(body.instance_id)).toEqual(['0', '1'])
    expect(await eventsOf(body.instance_id)).toEqual(['instance.created'])
    const row = JSON.stringify(await rowOf(body.instance_id))
    expect(row).not.toContain(body.credential)
    expect(row).not.toContain('c'.repeat(40))
  })

  test.each(['0.2.0', '1.1.0', 'one'])('refuses version %s with a message that names both', async (version) => {
    const { status, body } = await post(`${bridge.url}/v1/instances`, ENROLMENT_TOKEN, enrolBody({ version }))
    expect([status, body.error.code]).toEqual([409, 'CONFLICT'])
    expect(body.error.message).toContain(version)
    expect(body.error.message).toContain('0.1.0')
  })

  test('takes another patch of the same minor version', async () => {
    await enrolInstance(bridge, { version: '0.1.9-rc.1' })
  })

  test('needs the enrolment token', async () => {
    for (const token of [undefined, 'wrong', `${ENROLMENT_TOKEN}x`]) {
      expect((await post(`${bridge.url}/v1/instances`, token, enrolBody())).status).toBe(401)
    }
  })

  test('refuses what does not fit the schema, and addresses that are no HTTP', async () => {
    const { status, body } = await post(`${bridge.url}/v1/instances`, ENROLMENT_TOKEN, enrolBody({ capacity: 0 }))
    expect([status, body.error.details.errors[0].path]).toEqual([400, '/capacity'])
    const file = await post(
      `${bridge.url}/v1/instances`,
      ENROLMENT_TOKEN,
      enrolBody({ base_url: 'file:///etc/passwd' }),
    )
    expect([file.status, file.body.error.details.errors[0].path]).toEqual([400, '/base_url'])
  })

  test('under a known name is the same instance; the old credential no longer counts', async () => {
    const first = await enrolInstance(bridge, { name: 'again' })
    const second = await enrolInstance(bridge, { name: 'again' })
    expect(second.id).toBe(first.id)
    expect((await beat(first)).status).toBe(401)
    expect((await beat(second)).status).toBe(200)
  })

  test('of one name many times at once makes one instance', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => enrolInstance(bridge, { name: 'crowd' })))
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
  })

  test('with less capacity retires slots, with more brings them back', async () => {
    const { id } = await enrolInstance(bridge, { name: 'grows', capacity: 3 })
    await enrolInstance(bridge, { name: 'grows', capacity: 1 })
    expect(await slotsOf(id)).toEqual(['0', '1 retired', '2 retired'])
    await enrolInstance(bridge, { name: 'grows', capacity: 4 })
    expect(await slotsOf(id)).toEqual(['0', '1', '2', '3'])
  })
})

describe('a heartbeat', () => {
  test('renews, and wakes the dispatcher only when the instance had been away', async () => {
    const instance = await enrolInstance(bridge)
    await beat(instance)
    expect(await eventsOf(instance.id)).toEqual(['instance.created'])
    await age(instance, 60)
    await beat(instance)
    expect(await isFresh(instance)).toBe(true)
    expect(await eventsOf(instance.id)).toEqual(['instance.created', 'instance.updated'])
  })

  test('is for the own instance only', async () => {
    const [one, other] = [await enrolInstance(bridge), await enrolInstance(bridge)]
    const url = `${bridge.url}/v1/instances/${other.id}/heartbeat`
    expect((await post(url, one.credential, { version: '0.1.0', runs: [] })).status).toBe(403)
  })

  test('stops reported runs without a live lease of that epoch, and leaves those that have one', async () => {
    const instance = await enrolInstance(bridge)
    const kept = await seedRun(bridge.database, { instanceId: instance.id, slot: 0 })
    const gone = await seedRun(bridge.database, { instanceId: instance.id, slot: 1 })
    await endLease(bridge.database, gone.epoch)
    const live = { deployment_id: kept.deploymentId, epoch: kept.epoch }
    const ended = { deployment_id: gone.deploymentId, epoch: gone.epoch }
    const other = { ...live, epoch: kept.epoch + 1_000 }
    expect((await beat(instance, [live, ended, other])).body).toEqual({ stop: [ended, other] })
    expect(await isFresh(instance)).toBe(true)
  })

  test('that misses a run which it had renews nothing and says so, until the lease has ended', async () => {
    const instance = await enrolInstance(bridge)
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    const events = `${bridge.url}/v1/runs/${run.deploymentId}/events`
    await post(events, instance.credential, { epoch: run.epoch, first_event: 0, events: [started(0, 0)] })
    await age(instance, 10)
    expect(await beat(instance)).toMatchObject({
      status: 409,
      body: { error: { code: 'LEASES_LOST', details: { deployments: [run.deploymentId] } } },
    })
    expect(await isFresh(instance)).toBe(false)
    await endLease(bridge.database, run.epoch)
    expect((await beat(instance)).status).toBe(200)
    expect(await isFresh(instance)).toBe(true)
  })

  test('may miss a run that has ended, while the dispatcher has yet to end its lease', async () => {
    const instance = await enrolInstance(bridge)
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    const events = `${bridge.url}/v1/runs/${run.deploymentId}/events`
    await post(events, instance.credential, { epoch: run.epoch, first_event: 0, events: [finished()] })
    await age(instance, 60)
    await beat(instance)
    expect(await isFresh(instance)).toBe(true)
  })

  test('of an instance that began anew renews nothing while leases from before are live', async () => {
    const instance = await enrolInstance(bridge, { name: 'reborn' })
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    await age(instance, 10)
    const reborn = await enrolInstance(bridge, { name: 'reborn', callback_token: 'd'.repeat(40) })
    expect((await beat(reborn)).status).toBe(409)
    expect(await isFresh(reborn)).toBe(false)
    await endLease(bridge.database, run.epoch)
    await beat(reborn)
    expect(await isFresh(reborn)).toBe(true)
  })

  test('of an instance that enrolled again with its old token keeps its leases', async () => {
    const instance = await enrolInstance(bridge, { name: 'restarted' })
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    await age(instance, 10)
    const again = await enrolInstance(bridge, { name: 'restarted' })
    const { body } = await beat(again, [{ deployment_id: run.deploymentId, epoch: run.epoch }])
    expect(body).toEqual({ stop: [] })
    expect(await isFresh(again)).toBe(true)
  })
})
