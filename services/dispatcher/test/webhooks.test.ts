import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import { enqueue, eventMessage, type OutboxMessage } from '@slipway/database'
import { type DestinationRules, KeyRing, uuidv7 } from '@slipway/runtime'
import { expectedSignature, type Receiver, startReceiver, testLogger, waitFor } from '@slipway/testing'
import { attempt } from '../src/webhooks/attempt.ts'
import { claimDue } from '../src/webhooks/claim.ts'
import { finish } from '../src/webhooks/finish.ts'
import { TenantLookups } from '../src/webhooks/lookups.ts'
import { sweepDeliveries } from '../src/webhooks/sweep.ts'
import { MAX_PER_WEBHOOK, TIMEOUTS_UNTIL_SLOW } from '../src/webhooks/webhooks.sql.ts'
import { testDatabase } from './database.ts'
import { testDispatchers } from './dispatchers.ts'
import { ADMIN, addInstance, keys, startCommand } from './fixtures.ts'

/** Dispatchers on the real servers; the test plays the gateway and the receivers. */
const { database, asDispatcher, catalog } = await testDatabase()
let other: string
const dispatchers = testDispatchers()
let gateway: Broker
const receivers: Receiver[] = []
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
let destinations: DestinationRules

beforeAll(async () => {
  other = uuidv7()
  await database.query(`INSERT INTO tenants (id, name, slug) VALUES ($1, 'other', 'other')`, [other])
  gateway = await dispatchers.connect('gateway')
})

beforeEach(async () => {
  await database.query('DELETE FROM webhook_events; DELETE FROM webhooks')
  destinations = { allowPrivate: true }
})

const TICK_MS = 50

async function startDispatchers(count = 1): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    await dispatchers.start(database, `dispatcher-${n}`, { destinations, tickMs: TICK_MS })
  }
}

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
  await dispatchers.stop()
})

afterAll(() => dispatchers.close())

async function receiver(): Promise<Receiver> {
  const made = await startReceiver()
  receivers.push(made)
  return made
}

async function addWebhook(url: string, options: { events?: string[]; tenant_id?: string | null } = {}) {
  const id = uuidv7()
  const { events = ['freeze.created'], tenant_id = null } = options
  await database.query(`INSERT INTO webhooks (id, tenant_id, url, events, secret_sealed) VALUES ($1, $2, $3, $4, $5)`, [
    id,
    tenant_id,
    url,
    events,
    keys.seal(SECRET, `webhook:${id}:secret`),
  ])
  return id
}

const tell = (message: OutboxMessage) => enqueue(database, [message])

async function addFreeze(tenant_id: string | null = null): Promise<string> {
  const id = uuidv7()
  await database.query(
    `INSERT INTO freezes (id, tenant_id, name, start_time, end_time) VALUES ($1, $2, $1::uuid::text, now(), now() + interval '1 h')`,
    [id, tenant_id],
  )
  return id
}

/** Creates a freeze, which is an event for webhooks. */
async function freeze(tenant_id: string | null = null): Promise<string> {
  const freeze_id = await addFreeze(tenant_id)
  await tell(eventMessage('freeze.created', { freeze_id, tenant_id }))
  return freeze_id
}

interface DeliveryRow {
  id: string
  webhook_id: string
  status: string
  attempts: number
  next_attempt_at: Date
  last_attempt_at: Date
  expires_at: Date
  response_status: number | null
  response_body: string | null
  error: string | null
  claim: string | null
}

async function deliveries(webhookId: string): Promise<DeliveryRow[]> {
  const { rows } = await database.query<DeliveryRow>(
    'SELECT * FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY created_at, id',
    [webhookId],
  )
  return rows
}

/** Waits until the first delivery of the webhook has so many attempts and no claim. */
const tried = (webhookId: string, attempts: number) =>
  waitFor(
    async () => {
      const [delivery] = await deliveries(webhookId)
      return delivery && delivery.attempts === attempts && delivery.claim === null ? delivery : null
    },
    { what: `attempt ${attempts}` },
  )

/** Makes the next attempt of all deliveries due. */
const due = () => database.query(`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE claim IS NULL`)

const counts = async (...hooks: string[]) => (await Promise.all(hooks.map(deliveries))).map((rows) => rows.length)

test('an event is delivered once, signed as the standard says, with the item of the list', async () => {
  await startDispatchers(2)
  const to = await receiver()
  const webhook = await addWebhook(to.url)
  const freeze_id = await freeze()
  const delivery = await tried(webhook, 1)
  expect(delivery).toMatchObject({ status: 'delivered', response_status: 204, error: null })
  // A second delivery of the same event would arrive before the next event.
  await freeze()
  await waitFor(() => to.received.length >= 2)
  expect(to.received.filter(({ event }) => event.data['id'] === freeze_id)).toHaveLength(1)
  expect((await database.query('SELECT FROM webhook_events')).rowCount).toBe(0)
  const [call] = to.received
  if (call === undefined) throw new Error('nothing was received')
  expect(call).toMatchObject({ path: '/hook', id: delivery.id, contentType: 'application/json' })
  expect(call.signature).toBe(expectedSignature(SECRET, call))
  expect(Math.abs(call.timestamp - Date.now() / 1_000)).toBeLessThan(60)
  expect(call.event).toEqual({
    type: 'freeze.created',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: expect.objectContaining({ id: freeze_id, name: freeze_id, active: true, tenant_id: null }),
  })
})

test('an event whose item cannot be read is retried later, and does not delay other events', async () => {
  const to = await receiver()
  const webhook = await addWebhook(to.url, { events: ['target.updated', 'freeze.created'] })
  const target_id = uuidv7()
  const seal = (key: KeyRing) => key.seal('{"colour":"blue"}', `target:${target_id}:variables`)
  const lost = KeyRing.parse(`lost:${Buffer.alloc(32, 8).toString('base64')}`)
  await database.query(
    `INSERT INTO targets (id, name, connection, variables_sealed) VALUES ($1, $1::uuid::text, '{"type":"local"}', $2)`,
    [target_id, seal(lost)],
  )
  const before = await freeze()
  await tell(eventMessage('target.updated', { target_id, tenant_id: null }))
  const after = await freeze()
  await startDispatchers()
  await waitFor(() => to.received.length === 2)
  expect(to.received.map(({ event }) => event.data['id']).sort()).toEqual([before, after].sort())
  const waiting = () =>
    database.query(`SELECT record_id, failures, due_at > now() AS later FROM webhook_events ORDER BY message_id`)
  expect((await waiting()).rows).toEqual([{ record_id: target_id, failures: 1, later: true }])

  await database.query('UPDATE targets SET variables_sealed = $2 WHERE id = $1', [target_id, seal(keys)])
  await database.query('UPDATE webhook_events SET due_at = now()')
  await waitFor(() => to.received.length === 3)
  expect(to.received[2]?.event).toMatchObject({ type: 'target.updated', data: { variables: { colour: 'blue' } } })
  expect((await waiting()).rows).toEqual([])
  expect(await deliveries(webhook)).toHaveLength(3)
})

describe('a delivery that fails', () => {
  test('is retried with exponential backoff, the same id and the same body, until it succeeds', async () => {
    await startDispatchers()
    const to = await receiver()
    to.answer = () => ({ status: 500, body: 'no\0t now'.repeat(500) })
    const webhook = await addWebhook(to.url)
    await freeze()
    const waits: number[] = []
    for (let attempts = 1; attempts <= 6; attempts += 1) {
      const row = await tried(webhook, attempts)
      expect(row).toMatchObject({ status: 'pending', response_status: 500, error: 'The receiver answered 500' })
      expect(row.response_body).toHaveLength(1_024)
      const { rows } = await database.query<{ wait: number }>(
        'SELECT extract(epoch FROM next_attempt_at - last_attempt_at)::float8 AS wait FROM webhook_deliveries',
      )
      waits.push(rows[0]?.wait ?? 0)
      await due()
    }
    // The backoff begins with 5 s, doubles each time, and is random in its upper half. The attempt itself takes a moment.
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(2.5 * 2 ** index)
      expect(wait).toBeLessThan(5 * 2 ** index + 20)
    }
    to.answer = () => ({ status: 200 })
    await waitFor(async () => (await deliveries(webhook))[0]?.status === 'delivered')
    expect(new Set(to.received.map(({ id }) => id)).size).toBe(1)
    expect(new Set(to.received.map(({ body }) => body)).size).toBe(1)
    expect(to.received.every((call) => call.signature === expectedSignature(SECRET, call))).toBe(true)
  })

  test('is given up after 24 hours', async () => {
    await startDispatchers()
    const to = await receiver()
    to.answer = () => ({ status: 503 })
    const webhook = await addWebhook(to.url)
    await freeze()
    const first = await tried(webhook, 1)
    expect(first.expires_at.getTime() - Date.now()).toBeGreaterThan(23 * 3_600_000)
    await database.query(`UPDATE webhook_deliveries SET expires_at = now() + interval '4 s', next_attempt_at = now()`)
    await waitFor(async () => (await deliveries(webhook))[0]?.status === 'failed')
    expect(to.received).toHaveLength(2)
  })

  test('follows no redirect', async () => {
    await startDispatchers()
    const [to, elsewhere] = [await receiver(), await receiver()]
    to.answer = () => ({ status: 307, headers: { location: elsewhere.url } })
    const webhook = await addWebhook(to.url)
    await freeze()
    const error = 'The receiver answered 307: redirects are not followed'
    expect(await tried(webhook, 1)).toMatchObject({ status: 'pending', response_status: 307, error })
    expect(elsewhere.received).toEqual([])
  })

  test('waits for the time in Retry-After', async () => {
    await startDispatchers()
    const to = await receiver()
    to.answer = () => ({ status: 429, headers: { 'retry-after': '3600' } })
    const webhook = await addWebhook(to.url)
    await freeze()
    const { next_attempt_at } = await tried(webhook, 1)
    expect(next_attempt_at.getTime() - Date.now()).toBeGreaterThan(50 * 60_000)
  })

  test('with the status 410 disables the webhook and stores the reason', async () => {
    await startDispatchers()
    const to = await receiver()
    to.answer = () => ({ status: 410 })
    const webhook = await addWebhook(to.url)
    await freeze()
    expect(await tried(webhook, 1)).toMatchObject({ status: 'failed', response_status: 410 })
    const { rows } = await database.query('SELECT enabled, disabled_reason FROM webhooks')
    expect(rows).toEqual([{ enabled: false, disabled_reason: expect.stringContaining('410') }])
    const seeing = await receiver()
    const next = await addWebhook(seeing.url)
    await freeze()
    await tried(next, 1)
    expect(await counts(webhook, next)).toEqual([1, 1])
  })

  test('is not sent to a private address, neither to one in the URL nor to one that its name resolves to', async () => {
    const to = await receiver()
    const named = new URL(to.url)
    named.hostname = 'rebinding.test'
    // The name was public when the webhook was created. Now it resolves to this machine.
    destinations = { allowPrivate: false, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }
    await startDispatchers()
    const hooks = [await addWebhook(to.url), await addWebhook(named.href)]
    await freeze()
    for (const hook of hooks) {
      const error = 'The URL leads to an address that is not public'
      expect(await tried(hook, 1)).toMatchObject({ status: 'pending', response_status: null, error })
    }
    expect(to.received).toEqual([])
  })
})

test('a receiver that does not answer delays no other webhook, and gets a bounded number of simultaneous calls', async () => {
  await startDispatchers(2)
  const [stuck, fine] = [await receiver(), await receiver()]
  stuck.answer = null
  await addWebhook(stuck.url)
  const good = await addWebhook(fine.url)
  for (let i = 0; i < 20; i += 1) await freeze()
  await waitFor(async () => {
    const rows = await deliveries(good)
    return rows.length === 20 && rows.every(({ status }) => status === 'delivered')
  })
  expect(fine.received).toHaveLength(20)
  await waitFor(() => stuck.received.length >= MAX_PER_WEBHOOK)
  expect(stuck.received).toHaveLength(MAX_PER_WEBHOOK)
})

test('99 receivers of a tenant that hang delay no delivery of another tenant', async () => {
  await startDispatchers()
  const [stuck, fine] = [await receiver(), await receiver()]
  stuck.answer = null
  const hanging = await Promise.all(Array.from({ length: 99 }, () => addWebhook(stuck.url, { tenant_id: other })))
  for (let n = 0; n < 4; n += 1) await freeze(other)
  await waitFor(() => stuck.received.length >= 99)
  const good = await addWebhook(fine.url)
  for (let n = 0; n < 20; n += 1) await freeze()
  await waitFor(async () => {
    const rows = await deliveries(good)
    return rows.filter(({ status }) => status === 'delivered').length >= 20
  })
  expect((await counts(...hanging)).every((count) => count > 0)).toBe(true)
})

/** Gives each webhook so many deliveries that are due. */
const addDue = (hooks: readonly string[], count: number) =>
  database.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, expires_at)
     SELECT gen_random_uuid(), w.id, w.tenant_id, gen_random_uuid(), 'freeze.created', '{}', now() + interval '1 h'
       FROM webhooks w, generate_series(1, $2) WHERE w.id = ANY ($1)`,
    [hooks, count],
  )

describe('a claim', () => {
  const hooksOf = (tenant_id: string | null, count: number) =>
    Promise.all(Array.from({ length: count }, () => addWebhook('http://127.0.0.1:9/hook', { tenant_id })))
  const addSlow = async (tenant_id: string | null, count: number) => {
    const hooks = await hooksOf(tenant_id, count)
    await database.query('UPDATE webhooks SET consecutive_timeouts = $2 WHERE id = ANY ($1)', [
      hooks,
      TIMEOUTS_UNTIL_SLOW,
    ])
    return hooks
  }
  const claimedBy = async (limit: number) => (await claimDue(asDispatcher, limit)).map(({ webhook_id }) => webhook_id)

  test('leaves as many places free as its tenant takes, and starts with tenants that have few attempts in flight', async () => {
    const [many, few] = [await hooksOf(other, 30), await hooksOf(null, 2)]
    await addDue(many, 4)
    const first = await claimedBy(40)
    expect(first).toHaveLength(20)
    // Each webhook before a second attempt of one.
    expect(new Set(first).size).toBe(20)
    expect(await claimedBy(20)).toEqual([])
    await addDue(few, 4)
    const second = await claimedBy(20)
    expect(second.every((hook) => few.includes(hook))).toBe(true)
    expect(second).toHaveLength(8)
  })

  test('takes one delivery of a webhook that timed out in a row, after those of other webhooks of the tenant', async () => {
    const [slow] = await addSlow(other, 1)
    const [quick] = await hooksOf(other, 1)
    await addDue([slow ?? '', quick ?? ''], 4)
    expect(await claimedBy(20)).toEqual(expect.arrayContaining([quick, quick, quick, quick, slow]))
    expect(await claimedBy(20)).toEqual([])
  })

  test('leaves half of the share of a tenant to webhooks that answer', async () => {
    const slow = await addSlow(other, 50)
    await addDue(slow, 1)
    expect(await claimedBy(30)).toHaveLength(10)
    const quick = await hooksOf(other, 1)
    await addDue(quick, 2)
    expect(await claimedBy(20)).toEqual([quick[0], quick[0]])
  })
})

describe('timeouts of a webhook', () => {
  const timeoutsOf = async (id: string) =>
    (await database.query('SELECT consecutive_timeouts AS timeouts FROM webhooks WHERE id = $1', [id])).rows[0]?.[
      'timeouts'
    ]

  test('are counted in a row, and forgotten when the receiver answers', async () => {
    const to = await receiver()
    to.answer = null
    const webhook = await addWebhook(to.url)
    await addDue([webhook], 1)
    const attemptOnce = async () => {
      await due()
      const [claimed] = await claimDue(asDispatcher, 10)
      if (claimed === undefined) throw new Error('nothing was due')
      const outcome = await attempt(claimed, { keys, destinations, timeoutMs: 50 })
      await finish(asDispatcher, claimed, outcome)
      return outcome
    }
    expect(await attemptOnce()).toMatchObject({ result: 'failed', timed_out: true })
    await attemptOnce()
    expect(await timeoutsOf(webhook)).toBe(2)
    to.answer = () => ({ status: 500 })
    await due()
    const [claimed] = await claimDue(asDispatcher, 10)
    if (claimed === undefined) throw new Error('nothing was due')
    expect(await attempt(claimed, { keys, destinations })).toMatchObject({ result: 'failed', timed_out: false })
    await finish(asDispatcher, claimed, await attempt(claimed, { keys, destinations }))
    expect(await timeoutsOf(webhook)).toBe(0)
  })

  test('a name that hangs leaves the lookups of other tenants alone, and one name is looked up once at a time', async () => {
    const asked: string[] = []
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const lookups = new TenantLookups(async (host) => {
      asked.push(host)
      if (host.startsWith('slow')) await opened
      return [{ address: '192.0.2.1', family: 4 }]
    })
    const slow = ['slow-1', 'slow-1', 'slow-2', 'quick'].map((host) => lookups.of(other)(host))
    expect(await lookups.of(null)('quick')).toHaveLength(1)
    expect(asked).toEqual(['slow-1', 'quick'])
    open()
    await Promise.all(slow)
    expect(asked).toEqual(['slow-1', 'quick', 'slow-2', 'quick'])
  })
})

describe('the delivery that a dead dispatcher has claimed', () => {
  test('is not sent while the claim lasts, and is then sent by another dispatcher with the same id', async () => {
    const to = await receiver()
    const webhook = await addWebhook(to.url)
    await startDispatchers()
    to.answer = () => ({ status: 500 })
    await freeze()
    const { id } = await tried(webhook, 1)
    await dispatchers.stop()
    await due()
    const [claimed] = await claimDue(asDispatcher, 10)
    expect(claimed).toMatchObject({ id, attempts: 2 })
    expect(await claimDue(asDispatcher, 10)).toEqual([])
    to.answer = () => ({ status: 200 })
    await startDispatchers()
    // Another delivery succeeds meanwhile, so the dispatchers have searched for due deliveries.
    await freeze()
    await waitFor(async () => (await deliveries(webhook))[1]?.status === 'delivered')
    expect((await deliveries(webhook)).map(({ status }) => status)).toEqual(['pending', 'delivered'])
    expect(to.received).toHaveLength(2)
    await database.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE claim IS NOT NULL')
    expect(await tried(webhook, 3)).toMatchObject({ id, status: 'delivered' })
    expect(to.received.map((call) => call.id === id)).toEqual([true, false, true])
  })
})

describe('tenants', () => {
  test('receive only events of records that they see; a webhook without tenant receives all events', async () => {
    await startDispatchers()
    const [a, b, everybody] = [await receiver(), await receiver(), await receiver()]
    const events = ['freeze.created', 'freeze.deleted', 'deployment.queued', 'instance.updated']
    const hooks = [
      await addWebhook(a.url, { events, tenant_id: catalog.tenant_id }),
      await addWebhook(b.url, { events, tenant_id: other }),
      await addWebhook(everybody.url, { events }),
    ]
    const start = async (tenant: boolean) => {
      const reply = await gateway.request('deployment.start', startCommand(catalog, { tenant }), {
        timeoutMs: 10_000,
        request_id: 'r',
      })
      return reply.ok && reply.result.outcome === 'queued' ? reply.result.pending_request_id : JSON.stringify(reply)
    }
    const waitsForA = await start(true)
    const waits = await start(false)
    const ofA = await freeze(catalog.tenant_id)
    const shared = await freeze(null)
    // The event of a deleted record has no item.
    const goneOfA = uuidv7()
    await tell(eventMessage('freeze.deleted', { freeze_id: goneOfA, tenant_id: catalog.tenant_id }))
    const instance_id = await addInstance(database, 1)
    await tell(eventMessage('instance.updated', { instance_id }))
    const expected = [
      [ofA, shared, goneOfA, waitsForA, instance_id],
      [shared, instance_id],
      [ofA, shared, goneOfA, waitsForA, waits, instance_id],
    ]
    await waitFor(
      async () => {
        const sent = await counts(...hooks)
        return sent.every((count, index) => count >= (expected[index]?.length ?? 0))
      },
      { what: 'all deliveries' },
    )
    await waitFor(() => a.received.length + b.received.length + everybody.received.length >= 13)
    const told = [a, b, everybody].map(({ received }) => received.map(({ event }) => event.data['id']).sort())
    expect(told).toEqual(expected.map((ids) => ids.sort()))
  })

  test('receive the values of sensitive variables masked, as lists show them', async () => {
    await startDispatchers()
    const [a, b] = [await receiver(), await receiver()]
    const events = ['target.updated']
    await addWebhook(a.url, { events, tenant_id: catalog.tenant_id })
    await addWebhook(b.url, { events, tenant_id: other })
    const target_id = uuidv7()
    const sealed = keys.seal('{"token":"planted-value","colour":"blue"}', `target:${target_id}:variables`)
    await database.query(
      `INSERT INTO targets (id, name, connection, variables_sealed, sensitive_variables)
       VALUES ($1, $2, '{"type":"local"}', $3, '{token}')`,
      [target_id, target_id, sealed],
    )
    await tell(eventMessage('target.updated', { target_id, tenant_id: null }))
    await waitFor(() => a.received.length + b.received.length === 2)
    for (const { received } of [a, b]) {
      expect(received[0]?.event.data).toMatchObject({
        variables: { token: '***', colour: 'blue' },
        sensitive_variables: ['token'],
      })
    }
  })
})

describe('redelivery', () => {
  const redeliver = (webhook_id: string, delivery_id: string, caller = ADMIN) =>
    gateway.request('webhook.redeliver', { webhook_id, delivery_id, caller }, { timeoutMs: 10_000, request_id: 'r' })

  test('repeats a delivery with its id, and is refused for another tenant and for a disabled webhook', async () => {
    await startDispatchers()
    const to = await receiver()
    const webhook = await addWebhook(to.url, { tenant_id: catalog.tenant_id })
    await freeze()
    const { id } = await tried(webhook, 1)
    expect(await redeliver(webhook, id)).toEqual({ ok: true, result: { delivery_id: id } })
    await waitFor(() => to.received.length === 2)
    expect(to.received.map((call) => call.id)).toEqual([id, id])
    expect(to.received.every((call) => call.signature === expectedSignature(SECRET, call))).toBe(true)
    const { rows } = await database.query(
      `SELECT action, resource_type, resource_id, tenant_id, details FROM audit_records WHERE action = 'webhook.redeliver'`,
    )
    expect(rows).toMatchObject([
      { resource_type: 'webhook', resource_id: webhook, tenant_id: catalog.tenant_id, details: { delivery_id: id } },
    ])
    const stranger = { ...ADMIN, tenant_id: other }
    expect(await redeliver(webhook, id, stranger)).toMatchObject({ ok: false, problem: { code: 'NOT_FOUND' } })
    await database.query('UPDATE webhooks SET enabled = false')
    expect(await redeliver(webhook, id)).toMatchObject({ ok: false, problem: { code: 'CONFLICT' } })
    expect(to.received).toHaveLength(2)
  })
})

test('the sweep deletes deliveries after their retention, and fails pending ones that have expired', async () => {
  const webhook = await addWebhook('http://127.0.0.1:1/')
  const add = (status: string, age: string, expires: string) =>
    database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, status, created_at, expires_at)
       VALUES ($1, $2, $1, 'freeze.created', '{}', $3::webhook_delivery_status, now() - $4::interval, now() + $5::interval)`,
      [uuidv7(), webhook, status, age, expires],
    )
  await add('delivered', '8 days', '-7 days')
  await add('failed', '8 days', '-7 days')
  await add('delivered', '6 days', '-5 days')
  await add('pending', '25 hours', '-1 hour')
  await add('pending', '1 hour', '23 hours')
  await sweepDeliveries(asDispatcher, testLogger)
  expect((await deliveries(webhook)).map(({ status, error }) => [status, error])).toEqual([
    ['delivered', null],
    ['failed', 'There was no attempt in time'],
    ['pending', null],
  ])
})
