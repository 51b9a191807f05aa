import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import type { EventBody, EventType } from '@slipway/contracts'
import { uuidv7 } from '@slipway/runtime'
import { waitForValue } from '@slipway/testing'
import { testDatabase } from './database.ts'
import { testDispatchers } from './dispatchers.ts'
import { ADMIN, addInstance, liveLease, startCommand } from './fixtures.ts'
import { requestsOf } from './requests.ts'

/** Messages and the tick start a dispatch, and either alone is enough. */
const db = await testDatabase()
const { database, catalog } = db
/** Queues a request without a message to the dispatcher. */
const { submit } = requestsOf(db)
const NEVER_MS = 3_600_000
const dispatchers = testDispatchers()
let others: Broker

beforeAll(async () => {
  others = await dispatchers.connect('others')
})
afterEach(() => dispatchers.stop())
afterAll(() => dispatchers.close())

const statuses = async () => {
  const { rows } = await database.query<{ status: string }>('SELECT status FROM pending_requests ORDER BY rank, id')
  return rows.map(({ status }) => status)
}
const untilStatuses = (...wanted: string[]) =>
  waitForValue('the statuses', statuses, (seen) => JSON.stringify(seen) === JSON.stringify(wanted))

const tell = <T extends EventType>(type: T, body: EventBody<T>) =>
  others.publish([{ exchange: 'events', type, body, message_id: uuidv7(), request_id: null }])

async function theRun(): Promise<{ deployment_id: string; epoch: number }> {
  const { rows } = await database.query<{ deployment_id: string }>(
    'SELECT deployment_id FROM leases WHERE ended_at IS NULL',
  )
  const deployment_id = String(rows[0]?.deployment_id)
  return { deployment_id, epoch: (await liveLease(database, deployment_id))?.epoch ?? 0 }
}

test('the tick alone finds a request, an instance, a freed slot, and a freeze that has ended', async () => {
  await dispatchers.start(database, 'dispatcher', { tickMs: 100 })
  await submit()
  await addInstance(database, 1)
  await untilStatuses('dispatched')
  await submit()
  await database.query(`UPDATE leases SET ended_at = now(), end_reason = 'finished'`)
  await untilStatuses('dispatched', 'dispatched')

  await submit()
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time) VALUES ($1, 'hold', now() - interval '1 h', now() + interval '1 h')`,
    [uuidv7()],
  )
  await database.query(`UPDATE leases SET ended_at = now(), end_reason = 'finished' WHERE ended_at IS NULL`)
  // The tick skips the held request now. No message announces the end of the freeze.
  await database.query(`UPDATE freezes SET end_time = now() - interval '1 second'`)
  await untilStatuses('dispatched', 'dispatched', 'dispatched')
})

test('messages about an instance, the end of a run, a freeze and a cancel start a dispatch without the tick', async () => {
  await dispatchers.start(database, 'dispatcher', { tickMs: NEVER_MS })
  // The first tick comes at once, and this answer proves that it has begun. From here on, only messages start a dispatch.
  await others.request('deployment.start', startCommand(catalog), { timeoutMs: 10_000, request_id: null })
  const instance_id = await addInstance(database, 1)
  await tell('instance.updated', { instance_id })
  await untilStatuses('dispatched')

  await submit()
  await tell('run.finished', { ...(await theRun()), outcome: 'success', error_message: null })
  await untilStatuses('dispatched', 'dispatched')

  await submit()
  await submit()
  const { deployment_id } = await theRun()
  await others.request('deployment.cancel', { deployment_id, caller: ADMIN }, { timeoutMs: 10_000, request_id: null })
  await untilStatuses('dispatched', 'dispatched', 'dispatched', 'pending')

  const freeze = uuidv7()
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time) VALUES ($1, 'hold', now() - interval '1 h', now() + interval '1 h')`,
    [freeze],
  )
  await tell('run.finished', { ...(await theRun()), outcome: 'success', error_message: null })
  await waitForValue(
    'the free slot',
    async () => (await database.query('SELECT FROM leases WHERE ended_at IS NULL')).rowCount,
    (live) => live === 0,
  )
  expect((await statuses()).at(-1)).toBe('pending')
  await database.query('DELETE FROM freezes')
  await tell('freeze.deleted', { freeze_id: freeze, tenant_id: null })
  await untilStatuses('dispatched', 'dispatched', 'dispatched', 'dispatched')
})
