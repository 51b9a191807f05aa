import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { takesRuns } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import { COMPATIBLE_VERSION, uuidv7 } from '@slipway/runtime'
import { waitFor } from '@slipway/testing'
import { changeInstance, removeInstance } from '../src/instances/administer.ts'
import { recordHeartbeat } from '../src/instances/heartbeat.ts'
import {
  type BridgeWithDatabase,
  endLease,
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

const caller = { user_id: uuidv7(), username: 'admin', tenant_id: null, may_override_freezes: true, ip: '127.0.0.1' }
const order = (deadlineMs = 8_000) => ({
  command_id: uuidv7(),
  deadline: new Date(Date.now() + deadlineMs).toISOString(),
  request_id: 'r',
})
const rowOf = async (id: string) =>
  (
    await bridge.database.query('SELECT draining, labels, removed_at, last_heartbeat_at FROM instances WHERE id = $1', [
      id,
    ])
  ).rows[0]
const drain = (instance_id: string, received = order(), as = caller) =>
  changeInstance(bridge.bridge.database, { instance_id, caller: as, draining: true }, received)

test('a late or already refused change of an instance has no effect', async () => {
  const { id } = await joinInstance(bridge)
  expect(await drain(id, order(-1))).toBeNull()
  const refused = order()
  await recordAudit(bridge.database, [
    {
      id: refused.command_id,
      actor_id: null,
      actor_name: null,
      actor_ip: null,
      action: 'instance.update',
      resource_type: 'instance',
      resource_id: id,
      tenant_id: null,
      request_id: 'r',
      details: { outcome: 'failed' },
    },
  ])
  expect(await drain(id, refused)).toBeNull()
  expect(await rowOf(id)).toMatchObject({ draining: false })
})

test('a repeated command message has one effect', async () => {
  const { id } = await joinInstance(bridge)
  const received = order()
  expect(await drain(id, received)).toEqual({ instance_id: id })
  await changeInstance(bridge.bridge.database, { instance_id: id, caller, draining: false }, order())
  expect(await drain(id, received)).toEqual({ instance_id: id })
  expect(await rowOf(id)).toMatchObject({ draining: false })
})

test('a change and a removal leave one audit record each', async () => {
  const { id } = await joinInstance(bridge)
  const [change, removal] = [order(), order()]
  await drain(id, change)
  await drain(id, change)
  await removeInstance(bridge.bridge.database, { instance_id: id, caller, force: true }, removal)
  const { rows } = await bridge.database.query(
    `SELECT id, action, actor_name, request_id FROM audit_records
      WHERE resource_id = $1 AND action <> 'instance.join' ORDER BY number`,
    [id],
  )
  expect(rows).toEqual([
    { id: change.command_id, action: 'instance.update', actor_name: 'admin', request_id: 'r' },
    { id: removal.command_id, action: 'instance.delete', actor_name: 'admin', request_id: 'r' },
  ])
})

test('a caller of a tenant may not drain a shared instance', async () => {
  const { id } = await joinInstance(bridge)
  const error = await drain(id, order(), { ...caller, tenant_id: uuidv7() as never }).catch((problem) => problem)
  expect(error).toMatchObject({ code: 'INSUFFICIENT_PERMISSIONS' })
})

test('a sync keeps the labels that an administrator set, until the instance claims other labels', async () => {
  const instance = await joinInstance(bridge, { labels: { zone: 'a' } })
  const { id: instance_id } = instance
  await changeInstance(bridge.bridge.database, { instance_id, caller, labels: { zone: 'set' } }, order())
  await postSync(bridge, instance, { labels: { zone: 'a' } })
  expect(await rowOf(instance_id)).toMatchObject({ labels: { zone: 'set' } })
  await postSync(bridge, instance, { labels: { zone: 'c' } })
  expect(await rowOf(instance_id)).toMatchObject({ labels: { zone: 'c' } })
})

describe('a removal', () => {
  const remove = (instance_id: string, force?: boolean) =>
    removeInstance(bridge.bridge.database, { instance_id, caller, ...(force === undefined ? {} : { force }) }, order())
  const setOffline = (id: string) =>
    bridge.database.query(
      `UPDATE instances SET last_heartbeat_at = now() - interval '31 s', enrolled_at = now() - interval '1 h' WHERE id = $1`,
      [id],
    )

  test('is refused while the instance is online or has a live lease', async () => {
    const instance = await joinInstance(bridge)
    await postSync(bridge, instance)
    await expect(remove(instance.id)).rejects.toMatchObject({ code: 'CONFLICT' })
    const { epoch } = await seedRun(bridge.database, { instanceId: instance.id })
    await setOffline(instance.id)
    await expect(remove(instance.id)).rejects.toMatchObject({ code: 'CONFLICT', details: { active: 1 } })
    await endLease(bridge.database, epoch)
    expect(await remove(instance.id)).toEqual({ instance_id: instance.id })
    await expect(remove(instance.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('by force revokes all credentials at once and ends the waiting sync', async () => {
    const instance = await joinInstance(bridge)
    await postSync(bridge, instance)
    const next = await post(`${bridge.url}/v1/instances/credential`, instance.credential, {})
    const waiting = postSync(bridge, instance, { wait_seconds: 20 })
    await waitFor(() => bridge.bridge.wakeUps.size > 0, { what: 'a sync that waits' })
    const since = Date.now()
    await remove(instance.id, true)
    bridge.bridge.wakeUps.wake(instance.id, 'removed')
    expect((await waiting).body).toMatchObject({ start: [], stop: [] })
    expect(Date.now() - since).toBeLessThan(15_000)
    for (const credential of [instance.credential, next.body.credential]) {
      expect(await postSync(bridge, { credential })).toMatchObject({
        status: 401,
        body: { error: { code: 'INSTANCE_REMOVED', message: expect.stringContaining('new join token') } },
      })
    }
  })

  test('by force leaves the leases live, because commands may still run; they end like those of a lost instance', async () => {
    const instance = await joinInstance(bridge)
    await postSync(bridge, instance)
    const { epoch } = await seedRun(bridge.database, { instanceId: instance.id })
    const before = await rowOf(instance.id)
    await remove(instance.id, true)
    // A heartbeat that was authenticated before the removal renews nothing after it.
    await expect(recordHeartbeat(bridge.bridge, instance.id, syncBody())).rejects.toMatchObject({ status: 401 })
    const { rows } = await bridge.database.query('SELECT ended_at FROM leases WHERE epoch = $1', [epoch])
    expect(rows).toEqual([{ ended_at: null }])
    expect((await rowOf(instance.id))?.['last_heartbeat_at']).toEqual(before?.['last_heartbeat_at'])
  })

  test('waits for a transaction that inserts a lease, and frees no slot afterwards', async () => {
    const { id } = await joinInstance(bridge)
    await bridge.database.query('UPDATE instances SET last_heartbeat_at = now() WHERE id = $1', [id])
    let removal: Promise<unknown> = Promise.resolve()
    await bridge.database.transaction(async (tx) => {
      await tx.query('SELECT FROM instance_slots WHERE instance_id = $1 AND slot = 0 FOR UPDATE', [id])
      removal = remove(id, true)
      const isDone = await Promise.race([removal.then(() => true), new Promise((resolve) => setTimeout(resolve, 300))])
      expect(isDone).toBeUndefined()
    })
    await removal
    const { rows } = await bridge.database.query(
      `SELECT ${takesRuns('$2')} AS takes_runs FROM instances WHERE id = $1`,
      [id, COMPATIBLE_VERSION],
    )
    expect(rows).toEqual([{ takes_runs: false }])
  })
})
