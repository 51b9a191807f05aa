import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type EventType, isEvent, type WebhookEvent } from '@slipway/contracts'
import {
  createDatabase,
  type Database,
  enqueue,
  eventMessage,
  forTenant,
  type OutboxMessage,
  type RelayOptions,
  startRelay,
  webhookEventOf,
} from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { createTestDatabase, type TestDatabase, testLogger, waitFor } from '@slipway/testing'

/** What the relay keeps for webhooks from the messages of the outbox. */
let made: TestDatabase
let all: Database
let asBridge: Database
let ofCallers: Database
const [A, B] = [uuidv7(), uuidv7()]

beforeAll(async () => {
  made = await createTestDatabase()
  all = createDatabase({ url: made.url, applicationName: 'test', tenant: '*' })
  asBridge = createDatabase({ url: made.urlOf('executor-bridge'), applicationName: 'test', tenant: '*' })
  ofCallers = createDatabase({ url: made.urlOf('gateway'), applicationName: 'test' })
  for (const id of [A, B]) {
    await all.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $1::uuid::text, $1::uuid::text)', [id])
  }
})

beforeEach(() => all.query('DELETE FROM webhook_events; DELETE FROM webhooks; DELETE FROM outbox').then(() => {}))

afterAll(async () => {
  await all.close()
  await asBridge.close()
  await ofCallers.close()
  await made.drop()
})

const addWebhook = (tenant_id: string | null, events: WebhookEvent[], enabled = true) =>
  all.query(
    `INSERT INTO webhooks (id, tenant_id, url, events, enabled, secret_sealed) VALUES ($1, $2, '', $3, $4, '')`,
    [uuidv7(), tenant_id, events, enabled],
  )

const target = (tenant_id: string | null) => eventMessage('target.created', { target_id: uuidv7(), tenant_id })
const run = (tenant_id: string | null) =>
  eventMessage('deployment.created', { deployment_id: uuidv7(), tenant_id, state: 'running' })

/** Runs the relay until the outbox is empty. */
async function relay(options: Partial<RelayOptions> = {}): Promise<void> {
  const relaying = startRelay({
    database: asBridge,
    publish: async () => {},
    logger: testLogger,
    intervalMs: 20,
    ...options,
  })
  await waitFor(async () => (await all.query('SELECT FROM outbox')).rowCount === 0)
  await relaying.stop()
}

const kept = async () =>
  (await all.query('SELECT event, record_id, tenant_id, shared FROM webhook_events ORDER BY message_id')).rows

const asKept = (message: OutboxMessage) => {
  const {
    event,
    id: record_id,
    tenant_id,
    shared,
  } = (isEvent(message.type) && webhookEventOf(message.type, message.body as never)) || {}
  return { event, record_id, tenant_id, shared }
}

test('the relay keeps the events that a webhook wants and its tenant sees, and no others', async () => {
  await addWebhook(A, ['target.created', 'deployment.started'])
  await addWebhook(B, ['target.created'], false)
  await addWebhook(null, ['freeze.deleted'])
  const freeze = eventMessage('freeze.deleted', { freeze_id: uuidv7(), tenant_id: B })
  const wanted = [target(A), target(null), run(A), freeze]
  const others = [target(B), run(B), run(null), eventMessage('slot.freed', { instance_id: uuidv7() })]
  await enqueue(all, [...others, ...wanted])
  const woken: string[] = []
  await relay({ onKept: () => woken.push('once') })
  expect(await kept()).toEqual(wanted.map(asKept))
  expect(woken).toEqual(['once'])
})

test('a relay that runs in the context of one tenant keeps events of other tenants', async () => {
  await addWebhook(B, ['target.created'])
  await addWebhook(null, ['deployment.started'])
  const messages = [target(B), run(A)]
  await enqueue(all, messages)
  await forTenant(A, () => relay({ database: ofCallers }))
  expect(await kept()).toEqual(messages.map(asKept))
})

test('an unconfirmed message stays in the outbox only, and is kept once after its confirmation', async () => {
  await addWebhook(null, ['target.created'])
  const messages = [target(A), target(B)]
  await enqueue(all, messages)
  const seen: unknown[][] = []
  await relay({
    async publish(batch) {
      seen.push(await kept())
      if (seen.length === 1) throw new Error('no connection')
      const failures = seen.length === 2 ? batch.slice(1) : []
      if (failures.length > 0) throw Object.assign(new Error('not confirmed'), { failures })
    },
  })
  expect(seen).toEqual([[], [], messages.slice(0, 1).map(asKept)])
  expect(await kept()).toEqual(messages.map(asKept))
})

test('events carry the clock time, in the order of the changes to a record', async () => {
  await addWebhook(null, ['target.created', 'target.deleted'])
  const [first, second] = [target(A), eventMessage('target.deleted', { target_id: uuidv7(), tenant_id: A })]
  // This transaction begins before the other change and changes the record after it.
  await all.transaction(async (tx) => {
    await tx.query('SELECT pg_sleep(0.01)')
    await enqueue(all, [first])
    await tx.query('SELECT pg_sleep(0.01)')
    await enqueue(tx, [second])
  })
  await relay()
  const { rows } = await all.query('SELECT event FROM webhook_events ORDER BY happened_at')
  expect(rows).toEqual([{ event: 'target.created' }, { event: 'target.deleted' }])
})

test('every message about a listed record has its webhook event, and internal messages have none', () => {
  const ids = { deployment_id: 'd', pending_request_id: 'p', target_id: 't', freeze_id: 'f', instance_id: 'i' }
  const event = (type: EventType, more: object = {}) =>
    webhookEventOf(type, { ...ids, tenant_id: null, ...more } as never)?.event
  expect(event('deployment.created', { state: 'running' })).toBe('deployment.started')
  expect(event('deployment.updated', { state: 'rolling_back' })).toBe('deployment.updated')
  for (const state of ['success', 'failed', 'cancelled', 'rolled_back']) {
    expect(event('deployment.updated', { state })).toBe('deployment.finished')
  }
  expect(event('pending.created', { status: 'pending' })).toBe('deployment.queued')
  expect(event('pending.updated', { status: 'pending' })).toBe('pending.updated')
  for (const status of ['dispatched', 'cancelled', 'failed']) {
    expect(event('pending.updated', { status })).toBe(`pending.${status}`)
  }
  for (const kind of ['target', 'freeze', 'instance'] as const) {
    for (const change of ['created', 'updated', 'deleted'] as const) {
      expect(event(`${kind}.${change}`)).toBe(`${kind}.${change}`)
    }
  }
  for (const type of ['run.finished', 'slot.freed', 'user.revoked'] as const) expect(event(type)).toBeUndefined()
})
