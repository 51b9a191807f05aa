import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import type { CommandBody, CommandReply, EventBody } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { waitForValue } from '@slipway/testing'
import { testDatabase } from './database.ts'
import { testDispatchers } from './dispatchers.ts'
import { ADMIN, addInstance, deployment, startCommand, states } from './fixtures.ts'

/** Two dispatchers on the real broker; the test plays the gateway, the executor-bridge and its instance. */
const { database, catalog } = await testDatabase()
const dispatchers = testDispatchers()
let gateway: Broker
let bridge: Broker
/** The instances in the lease.changed messages that the bridge received. */
let woken: string[] = []

beforeAll(async () => {
  gateway = await dispatchers.connect('gateway')
  bridge = await dispatchers.connect('executor-bridge')
  await bridge.consumeEventsExclusively(['lease.changed'], async ({ body }) => {
    woken.push((body as EventBody<'lease.changed'>).instance_id)
  })
})

/** The live leases, as the bridge reads them when it is woken. */
const leases = async () =>
  (
    await database.query<{ deployment_id: string; epoch: number }>(
      'SELECT deployment_id, epoch FROM leases WHERE ended_at IS NULL ORDER BY epoch',
    )
  ).rows

/** Waits for a number of wake-ups, and returns the live leases. */
const leasesAfter = async (wakeUps: number) => {
  await waitForValue(
    `wake-up ${wakeUps}`,
    () => woken,
    (list) => list.length >= wakeUps,
  )
  return leases()
}

beforeEach(async () => {
  woken = []
  for (const name of ['dispatcher-1', 'dispatcher-2']) await dispatchers.start(database, name)
})

afterEach(() => dispatchers.stop())

afterAll(() => dispatchers.close())

const request = <T extends 'deployment.start' | 'deployment.cancel' | 'pending.cancel' | 'pending.update'>(
  type: T,
  body: CommandBody<T>,
) => gateway.request(type, body, { timeoutMs: 10_000, request_id: 'request-1' })

async function start(options: Parameters<typeof startCommand>[1] = {}): Promise<CommandReply<'deployment.start'>> {
  const reply = await request('deployment.start', startCommand(catalog, options))
  if (!reply.ok) throw new Error(JSON.stringify(reply.problem))
  return reply.result
}

const tell = (
  type: 'run.finished' | 'instance.updated',
  body: EventBody<'run.finished'> | EventBody<'instance.updated'>,
) => bridge.publish([{ exchange: 'events', type, body, message_id: uuidv7(), request_id: null }])

test('a start wakes the bridge, and the next deployment starts after the first one has ended', async () => {
  await addInstance(database, 1)
  const first = await start()
  const second = await start()
  expect(first).toMatchObject({ outcome: 'started' })
  expect(second).toMatchObject({ outcome: 'queued' })
  const id = 'deployment_id' in first ? first.deployment_id : ''
  const [run] = await leasesAfter(1)
  expect(run?.deployment_id).toBe(id)

  const finished = { deployment_id: id, epoch: run?.epoch ?? 0, outcome: 'success', error_message: null } as const
  await Promise.all([tell('run.finished', finished), tell('run.finished', finished)])
  await waitForValue(
    'the end of the deployment',
    () => states(database, id),
    (path) => path.at(-1) === 'success',
  )
  const [next] = await leasesAfter(2)
  expect(await states(database, String(next?.deployment_id))).toEqual(['queued', 'running'])
  expect(await states(database, id)).toEqual(['running', 'success'])
})

test('a new instance gets the pending requests in order, each once', async () => {
  const priorities = [1, 5, 3, 5, 2]
  for (const priority of priorities) await start({ priority })
  const instance_id = await addInstance(database, 5)
  await tell('instance.updated', { instance_id })
  await waitForValue('all leases', leases, (list) => list.length === 5)
  expect(new Set(await leasesAfter(1).then(() => woken))).toEqual(new Set([instance_id]))
  const { rows } = await database.query<{ priority: number }>(
    `SELECT p.priority FROM leases l JOIN pending_requests p USING (deployment_id) ORDER BY l.epoch`,
  )
  expect(rows.map(({ priority }) => priority)).toEqual([5, 5, 3, 2, 1])
  expect(new Set((await leases()).map(({ deployment_id }) => deployment_id)).size).toBe(5)
})

test('a cancel is answered, wakes the bridge, and leaves the slot to the next request', async () => {
  const instance_id = await addInstance(database, 1)
  const first = await start()
  const id = 'deployment_id' in first ? first.deployment_id : ''
  await start()
  expect(await request('deployment.cancel', { deployment_id: id, caller: ADMIN, reason: 'no' })).toEqual({
    ok: true,
    result: { deployment_id: id },
  })
  expect((await deployment(database, id)).state).toBe('cancelled')
  // The start, the cancel, and the start of the next request.
  const [next] = await leasesAfter(3)
  expect(next?.deployment_id).not.toBe(id)
  expect(woken).toEqual([instance_id, instance_id, instance_id])
  const again = await request('deployment.cancel', { deployment_id: id, caller: ADMIN })
  expect(again).toMatchObject({ ok: false, problem: { code: 'CONFLICT' } })
})

test('a request whose priority was changed starts at its new position', async () => {
  const [first, second] = [await start({ priority: 1 }), await start()]
  const idOf = (reply: typeof first) => ('pending_request_id' in reply ? reply.pending_request_id : '')
  const pending_request_id = idOf(second)
  const update = () => request('pending.update', { pending_request_id, priority: 2, caller: ADMIN })
  expect(await update()).toEqual({ ok: true, result: { pending_request_id } })
  await tell('instance.updated', { instance_id: await addInstance(database, 1) })
  await leasesAfter(1)
  const { rows } = await database.query<{ id: string; status: string }>('SELECT id, status FROM pending_requests')
  const statusOf = (id: string) => rows.find((row) => row.id === id)?.status
  expect([statusOf(pending_request_id), statusOf(idOf(first))]).toEqual(['dispatched', 'pending'])
  expect(await update()).toMatchObject({ ok: false, problem: { code: 'CONFLICT' } })
})

test('a pending request that is cancelled never starts', async () => {
  const queued = await start()
  const pending_request_id = 'pending_request_id' in queued ? queued.pending_request_id : ''
  expect(await request('pending.cancel', { pending_request_id, caller: ADMIN })).toMatchObject({ ok: true })
  await addInstance(database, 1)
  expect(await start()).toMatchObject({ outcome: 'started' })
  expect(await request('pending.cancel', { pending_request_id, caller: ADMIN })).toMatchObject({
    ok: false,
    problem: { code: 'CONFLICT' },
  })
  const { rows } = await database.query('SELECT status, deployment_id FROM pending_requests')
  expect(rows).toEqual([{ status: 'cancelled', deployment_id: null }])
})
