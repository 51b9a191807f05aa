import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitForValue } from '@slipway/testing'
import { line } from './events.ts'
import {
  type BridgeWithDatabase,
  type Joined,
  joinInstance,
  post,
  type SeededRun,
  seedRun,
  startBridgeWithDatabase,
} from './setup.ts'

/** More than the bridge has connections to Postgres. */
const BATCHES = 12
/** How many batches of an instance the bridge handles at a time. */
const AT_A_TIME = 4

let bridge: BridgeWithDatabase

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
})
afterAll(() => bridge?.close())

const send = async (instance: Joined, run: SeededRun, number: number) => {
  const url = `${bridge.url}/v1/runs/${run.deploymentId}/events`
  const body = { epoch: run.epoch, first_event: number, events: [line(number)] }
  return (await post(url, instance.credential, body)).status
}

test('batches of one instance that take long do not delay those of another one', async () => {
  const busy = await joinInstance(bridge, { capacity: 100 })
  const other = await joinInstance(bridge)
  const runs: SeededRun[] = []
  for (let slot = 0; slot < BATCHES; slot += 1) {
    const run = await seedRun(bridge.database, { instanceId: busy.id, slot })
    expect(await send(busy, run, 0)).toBe(200)
    runs.push(run)
  }
  const run = await seedRun(bridge.database, { instanceId: other.id })

  const holder = await bridge.database.pool.connect()
  try {
    await holder.query('BEGIN')
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await holder.query('SELECT FROM run_progress FOR UPDATE')
    const blocked = async () => {
      const { rows: waiting } = await bridge.database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND $1 = ANY (pg_blocking_pids(pid))',
        [rows[0]?.pid],
      )
      return waiting[0]?.count ?? 0
    }
    const answers = runs.map((one) => send(busy, one, 1))
    await waitForValue('batches that wait for the lock', blocked, (count) => count >= AT_A_TIME)
    expect(await send(other, run, 0)).toBe(200)
    expect(await blocked()).toBeLessThanOrEqual(AT_A_TIME)
    await holder.query('COMMIT')
    expect(await Promise.all(answers)).toEqual(runs.map(() => 200))
  } finally {
    holder.release(true)
  }
})
