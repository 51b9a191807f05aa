import { beforeEach, expect, test } from '@jest/globals'
import { enqueue, eventMessage } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { findWork } from '../src/work.sql.ts'
import { testDatabase } from './database.ts'
import { addInstance } from './fixtures.ts'
import { requestsOf } from './requests.ts'

/** What the dispatcher looks for each second: a part that is not named here runs only every 30 s. */
const db = await testDatabase()
const { database, asDispatcher } = db
const { submit, dispatchAll } = requestsOf(db)

beforeEach(() => database.query('TRUNCATE outbox, webhooks, webhook_events, release_heads CASCADE'))

const partsWithWork = async () =>
  Object.entries(await findWork.one(asDispatcher)).flatMap(([part, hasWork]) => (hasWork ? [part] : []))
const forgetOutbox = () => database.query('TRUNCATE outbox')

test('without rows no part has work', async () => {
  await addInstance(database, 1)
  expect(await partsWithWork()).toEqual([])
})

test('an unsent message is work for the relay', async () => {
  await enqueue(database, [eventMessage('slot.freed', { instance_id: uuidv7() })])
  expect(await partsWithWork()).toEqual(['outbox'])
})

test('a pending request is work for the queue, a run for the sweep, and a lost run for both', async () => {
  await submit()
  await forgetOutbox()
  expect(await partsWithWork()).toEqual(['queue'])

  await addInstance(database, 1)
  await dispatchAll()
  await forgetOutbox()
  expect(await partsWithWork()).toEqual(['runs'])

  await database.query(`UPDATE deployments SET state = 'failed', completed_at = now(), error_message = 'x'`)
  // The lease of an ended deployment is left.
  expect(await partsWithWork()).toEqual(['runs'])
  await database.query(`UPDATE leases SET ended_at = now(), end_reason = 'lost'`)
  expect(await partsWithWork()).toEqual([])
  await database.query(`UPDATE deployments SET state = 'running', completed_at = NULL, error_message = NULL`)
  expect(await partsWithWork()).toEqual(['queue', 'runs'])
})

test('a check that is due, runs or found a new state is work for the drift watch', async () => {
  await database.query(
    `WITH head AS (INSERT INTO release_heads (target_id, source_id) VALUES (gen_random_uuid(), gen_random_uuid()) RETURNING *)
     INSERT INTO release_checks (target_id, source_id, deployment_id, next_at)
     SELECT target_id, source_id, gen_random_uuid(), now() + interval '1 h' FROM head`,
  )
  expect(await partsWithWork()).toEqual([])
  await database.query(`UPDATE release_checks SET next_at = now() - interval '1 s'`)
  expect(await partsWithWork()).toEqual(['checks'])
  await database.query(`UPDATE release_checks SET next_at = now() + interval '1 h', run_id = gen_random_uuid()`)
  expect(await partsWithWork()).toEqual(['checks'])
  await database.query('UPDATE release_checks SET run_id = NULL, drifted_since = now()')
  expect(await partsWithWork()).toEqual(['checks'])
  await database.query('UPDATE release_checks SET told_drifted = true')
  expect(await partsWithWork()).toEqual([])
})

test('an event for webhooks and a delivery are work when they are due', async () => {
  await database.query(
    `INSERT INTO webhook_events (message_id, event, kind, record_id, shared, gone, happened_at, due_at)
     VALUES (gen_random_uuid(), 'freeze.created', 'freeze', gen_random_uuid(), false, false, now(), now() + interval '1 h')`,
  )
  expect(await partsWithWork()).toEqual([])
  await database.query(`UPDATE webhook_events SET due_at = now() - interval '1 s'`)
  expect(await partsWithWork()).toEqual(['webhook_events'])
  await database.query('TRUNCATE webhook_events')

  const webhook = uuidv7()
  await database.query(
    `INSERT INTO webhooks (id, url, events, secret_sealed) VALUES ($1, 'https://example.com', '{freeze.created}', 'x')`,
    [webhook],
  )
  await database.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, expires_at, next_attempt_at)
     VALUES (gen_random_uuid(), $1, gen_random_uuid(), 'freeze.created', '{}', now() + interval '1 h', now() + interval '1 m')`,
    [webhook],
  )
  expect(await partsWithWork()).toEqual([])
  await database.query(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 s'`)
  expect(await partsWithWork()).toEqual(['deliveries'])
  await database.query('UPDATE webhooks SET enabled = false')
  expect(await partsWithWork()).toEqual([])
})
