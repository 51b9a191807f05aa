import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import type { CommandBody } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger, ownMetric, raised, waitForValue } from '@slipway/testing'
import { measureSlots } from '../src/leases/metrics.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { measureDeliveries } from '../src/webhooks/metrics.ts'
import { testDatabase } from './database.ts'
import { testDispatchers } from './dispatchers.ts'
import { ADMIN, addInstance, liveLease, loseInstance, startCommand } from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()
const dispatchers = testDispatchers()
let gateway: Broker
let bridge: Broker

beforeAll(async () => {
  gateway = await dispatchers.connect('gateway')
  bridge = await dispatchers.connect('executor-bridge')
  await dispatchers.start(database, 'dispatcher')
  measureSlots(asDispatcher)
  measureDeliveries(asDispatcher)
})
afterAll(() => dispatchers.close())

const request = <T extends 'deployment.start' | 'deployment.cancel'>(type: T, body: CommandBody<T>) =>
  gateway.request(type, body, { timeoutMs: 10_000, request_id: 'request-1' })

async function start(): Promise<string> {
  const command = startCommand(catalog)
  expect(await request('deployment.start', command)).toMatchObject({ ok: true })
  return command.command_id
}

const REQUESTS = 'slipway_deployment_requests_total'
const ENDED = 'slipway_deployments_ended_total'

test('requests and ends of deployments are counted by outcome, and slots, leases and instances show the present', async () => {
  const lost = await addInstance(database, 3)
  await loseInstance(database, lost)
  await addInstance(database, 1)
  let [first, second] = ['', '']
  const begin = async () => {
    first = await start()
    second = await start()
  }
  expect(
    await raised(begin, [
      [REQUESTS, { outcome: 'started' }],
      [REQUESTS, { outcome: 'queued' }],
    ]),
  ).toEqual([1, 1])
  expect({
    slots: await ownMetric('slipway_slots'),
    leases: await ownMetric('slipway_leases'),
    online: await ownMetric('slipway_instances', { status: 'online' }),
    offline: await ownMetric('slipway_instances', { status: 'offline' }),
  }).toEqual({ slots: 1, leases: 1, online: 1, offline: 1 })

  const ended = (state: string) => ownMetric(ENDED, { state })
  const before = { success: await ended('success'), failed: await ended('failed') }
  expect(
    await raised(
      () => request('deployment.cancel', { deployment_id: first, caller: ADMIN }),
      [[ENDED, { state: 'cancelled' }]],
    ),
  ).toEqual([1])
  const lease = await waitForValue(
    'the next lease',
    () => liveLease(database, second),
    (found) => found !== null,
  )
  const body = { deployment_id: second, epoch: lease?.epoch ?? 0, outcome: 'success', error_message: null } as const
  await bridge.publish([{ exchange: 'events', type: 'run.finished', body, message_id: uuidv7(), request_id: null }])
  await waitForValue(
    'the successful end',
    () => ended('success'),
    (count) => count === before.success + 1,
  )
  expect(await ended('failed')).toBe(before.failed)
})

test('a lost lease is counted when its instance is lost', async () => {
  const instance = await addInstance(database, 1)
  await start()
  // Else its sweep may be faster than that of the test.
  await dispatchers.stop()
  await loseInstance(database, instance)
  const sweep = createSweep({ database: asDispatcher, logger })
  expect(await raised(sweep, [['slipway_leases_lost_total']])).toEqual([1])
})

test('deliveries that wait are counted, with the time for which the oldest is due', async () => {
  await dispatchers.stop()
  const [pending, overdue] = ['slipway_webhook_deliveries_pending', 'slipway_webhook_overdue_seconds']
  expect([await ownMetric(pending), await ownMetric(overdue)]).toEqual([0, 0])
  const webhook = uuidv7()
  await database.query(
    `INSERT INTO webhooks (id, url, events, secret_sealed) VALUES ($1, 'http://127.0.0.1:1', '{freeze.created}', '')`,
    [webhook],
  )
  await database.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, status, next_attempt_at, expires_at)
     VALUES ($1, $2, $1, 'freeze.created', '{}', 'pending', now() - interval '1 hour', now() + interval '1 day')`,
    [uuidv7(), webhook],
  )
  expect(await ownMetric(pending)).toBe(1)
  expect(await ownMetric(overdue)).toBeGreaterThanOrEqual(3_600)
})
