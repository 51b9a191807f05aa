import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { raised } from '@slipway/testing'
import { ended, finished, line, started } from './events.ts'
import {
  type BridgeWithDatabase,
  type Joined,
  joinInstance,
  post,
  postSync,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

let bridge: BridgeWithDatabase
let instance: Joined

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
  instance = await joinInstance(bridge)
})
afterAll(() => bridge?.close())

test('events of runs are counted and timed, refused batches apart', async () => {
  const run = await seedRun(bridge.database, { instanceId: instance.id })
  const events = [started(0, 0), line(0, 'one'), ended(0, 0), finished()]
  const send = (epoch: number) => () =>
    post(`${bridge.url}/v1/runs/${run.deploymentId}/events`, instance.credential, { epoch, first_event: 0, events })
  const metrics: Parameters<typeof raised>[1] = [
    ['slipway_run_events_total'],
    ['slipway_run_event_lag_seconds_count'],
    ['slipway_event_batch_duration_seconds_count', { outcome: 'applied' }],
    ['slipway_http_request_duration_seconds_count', { method: 'POST', route: '/v1/runs/{id}/events', status: '200' }],
  ]
  expect(await raised(send(run.epoch + 1_000), metrics)).toEqual([0, 0, 0, 0])
  expect(await raised(send(run.epoch), metrics)).toEqual([events.length, 1, 1, 1])
})

test('runs that an instance receives are counted', async () => {
  const other = await joinInstance(bridge)
  await seedRun(bridge.database, { instanceId: other.id })
  expect(
    await raised(() => postSync(bridge, other), [['slipway_runs_handed_over_total', { outcome: 'sent' }]]),
  ).toEqual([1])
})
