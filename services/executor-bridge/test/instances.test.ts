import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunRef, SyncRequest } from '@slipway/contracts'
import { OTHER_VERSIONS, waitFor } from '@slipway/testing'
import { finished, started } from './events.ts'
import {
  type BridgeWithDatabase,
  endLease,
  type Joined,
  joinInstance,
  post,
  postSync,
  seedRun,
  startBridgeWithDatabase,
  syncBody,
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

const beat = (instance: Joined, runs: RunRef[] = [], fields: Partial<SyncRequest> = {}) =>
  postSync(bridge, instance, { runs: runs.map((run) => ({ ...run, next_event: null })), ...fields })

/** Moves the times of the instance and its leases into the past by so many seconds. */
const age = (instance: Joined, seconds: number) =>
  bridge.database.query(
    `WITH l AS (UPDATE leases SET acquired_at = acquired_at - make_interval(secs => $2) WHERE instance_id = $1)
     UPDATE instances SET last_heartbeat_at = last_heartbeat_at - make_interval(secs => $2),
       enrolled_at = enrolled_at - make_interval(secs => $2) WHERE id = $1`,
    [instance.id, seconds],
  )

const isFresh = async (instance: Joined) =>
  (
    await bridge.database.query<{ fresh: boolean }>(
      `SELECT last_heartbeat_at > now() - interval '2 seconds' AS fresh FROM instances WHERE id = $1`,
      [instance.id],
    )
  ).rows[0]?.fresh

describe('a sync', () => {
  test('is a heartbeat, and wakes the dispatcher only if the instance had been lost', async () => {
    const instance = await joinInstance(bridge)
    await beat(instance)
    expect(await eventsOf(instance.id)).toEqual(['instance.created'])
    await age(instance, 60)
    await beat(instance)
    expect(await isFresh(instance)).toBe(true)
    expect(await eventsOf(instance.id)).toEqual(['instance.created', 'instance.updated'])
  })

  test('needs the credential of an instance', async () => {
    const instance = await joinInstance(bridge)
    const other = await joinInstance(bridge)
    const wrong = ['nobody', `${other.id}.${instance.credential.split('.')[1]}`]
    for (const credential of wrong) expect((await beat({ ...instance, credential })).status).toBe(401)
  })

  test('updates slots, version and labels to what the instance reports', async () => {
    const instance = await joinInstance(bridge, { capacity: 2, labels: { zone: 'a' } })
    await bridge.database.query(`UPDATE instances SET labels = '{"zone":"set"}' WHERE id = $1`, [instance.id])
    const itself = { capacity: 2, labels: { zone: 'a' } }
    await beat(instance, [], itself)
    expect(await rowOf(instance.id)).toMatchObject({ labels: { zone: 'set' }, accepts_runs: true })
    expect(await eventsOf(instance.id)).toEqual(['instance.created'])
    await beat(instance, [], { version: OTHER_VERSIONS.patch, capacity: 1, labels: { zone: 'b' }, accepts_runs: false })
    expect(await rowOf(instance.id)).toMatchObject({
      version: OTHER_VERSIONS.patch,
      labels: { zone: 'b' },
      accepts_runs: false,
    })
    expect(await slotsOf(instance.id)).toEqual(['0', '1 retired'])
    expect(await eventsOf(instance.id)).toEqual(['instance.created', 'instance.updated'])
  })

  test('sends the response head after the heartbeat, blanks while it waits, and the body after a change', async () => {
    const instance = await joinInstance(bridge)
    const began = Date.now()
    const response = await fetch(`${bridge.url}/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.credential}`, 'content-type': 'application/json' },
      body: JSON.stringify(syncBody({ wait_seconds: 25 })),
    })
    expect(response.status).toBe(200)
    expect(await isFresh(instance)).toBe(true)
    const body = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      [Symbol.asyncIterator]()
    expect((await body.next()).value).toMatch(/^ +$/)
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    bridge.bridge.wakeUps.wake(instance.id)
    let rest = ''
    for (let piece = await body.next(); !piece.done; piece = await body.next()) rest += piece.value
    expect(JSON.parse(rest)).toMatchObject({ start: [{ deployment_id: run.deploymentId }] })
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('ends after its wait, also if garbage was collected meanwhile', async () => {
    const instance = await joinInstance(bridge)
    const { wakeUps } = bridge.bridge
    const answer = beat(instance, [], { wait_seconds: 1 })
    await waitFor(() => wakeUps.size === 1, { what: 'a waiting sync' })
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    for (let time = 0; time < 3; time += 1) collect()
    expect((await answer).status).toBe(200)
    expect(wakeUps.size).toBe(0)
  })

  test('ends when its caller disconnects or its instance is removed', async () => {
    const instance = await joinInstance(bridge)
    const { wakeUps } = bridge.bridge
    const gone = new AbortController()
    const call = fetch(`${bridge.url}/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.credential}`, 'content-type': 'application/json' },
      body: JSON.stringify(syncBody({ wait_seconds: 25 })),
      signal: gone.signal,
    })
    await waitFor(() => wakeUps.size === 1, { what: 'a waiting sync' })
    gone.abort()
    await call
      .then(
        (response) => response.text(),
        () => {},
      )
      .catch(() => {})
    await waitFor(() => wakeUps.size === 0, { what: 'the end of the wait' })
    const removed = beat(instance, [], { wait_seconds: 25 })
    await waitFor(() => wakeUps.size === 1, { what: 'a waiting sync' })
    wakeUps.wake(instance.id, 'removed')
    expect((await removed).body).toMatchObject({ start: [], stop: [] })
  })

  test('stops reported runs that have no live lease of their epoch, and no other runs', async () => {
    const instance = await joinInstance(bridge)
    const kept = await seedRun(bridge.database, { instanceId: instance.id, slot: 0 })
    const gone = await seedRun(bridge.database, { instanceId: instance.id, slot: 1 })
    await endLease(bridge.database, gone.epoch)
    const live = { deployment_id: kept.deploymentId, epoch: kept.epoch }
    const ended = { deployment_id: gone.deploymentId, epoch: gone.epoch }
    const other = { ...live, epoch: kept.epoch + 1_000 }
    const stop = [
      { ...ended, reason: 'unknown' },
      { ...other, reason: 'unknown' },
    ]
    expect((await beat(instance, [live, ended, other])).body).toMatchObject({ start: [], stop })
    await bridge.database.query(`UPDATE leases SET end_reason = 'cancelled' WHERE epoch = $1`, [gone.epoch])
    expect((await beat(instance, [live, ended])).body.stop).toEqual([{ ...ended, reason: 'cancelled' }])
    expect(await isFresh(instance)).toBe(true)
  })

  test('that does not report a run with events is refused until the lease of the run has ended', async () => {
    const instance = await joinInstance(bridge)
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

  test('may leave out a finished run whose lease the dispatcher has not ended yet', async () => {
    const instance = await joinInstance(bridge)
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    const events = `${bridge.url}/v1/runs/${run.deploymentId}/events`
    await post(events, instance.credential, { epoch: run.epoch, first_event: 0, events: [finished()] })
    await age(instance, 60)
    await beat(instance)
    expect(await isFresh(instance)).toBe(true)
  })

  test('that has not started a run for 31 s is refused, unless it declines the run', async () => {
    const instance = await joinInstance(bridge)
    const run = await seedRun(bridge.database, { instanceId: instance.id })
    await bridge.database.query(`UPDATE leases SET acquired_at = now() - interval '31 s' WHERE epoch = $1`, [run.epoch])
    await bridge.database.query(`UPDATE instances SET enrolled_at = now() - interval '1 min' WHERE id = $1`, [
      instance.id,
    ])
    const ref = { deployment_id: run.deploymentId, epoch: run.epoch }
    expect((await beat(instance)).status).toBe(409)
    expect((await beat(instance, [], { declined: [ref] })).status).toBe(200)
  })
})
