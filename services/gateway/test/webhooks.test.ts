import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ItemKind } from '@slipway/contracts'
import { listItem } from '@slipway/database/read-models'
import { uuidv7 } from '@slipway/runtime'
import { addPending } from '@slipway/testing'
import { addDeployment } from './deployment-rows.ts'
import {
  addTenant,
  addUser,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let ofA: Client
let tenantA: string
/** The addresses of host names in this file. */
const names: Record<string, string> = {
  'public.test': '93.184.216.34',
  'private.test': '10.1.2.3',
  'metadata.test': '169.254.169.254',
}
const URL_OF_HOOK = 'https://public.test/hook?token=t'
const SECRET = `whsec_${Buffer.alloc(24, 3).toString('base64')}`

beforeAll(async () => {
  const resolve = async (host: string) => (names[host] === undefined ? [] : [{ address: names[host], family: 4 }])
  gateway = await startGateway({ webhookDestinations: { allowPrivate: false, resolve } })
  admin = clientOf(gateway, gateway.adminToken)
  ;({ id: tenantA, admin: ofA } = await addTenant(gateway, 'a'))
})
beforeEach(() => gateway.database.query('TRUNCATE webhooks CASCADE'))
afterAll(() => gateway.close())

const events = ['deployment.started', 'deployment.finished']
const create = (client: Client, body: object = {}) =>
  client.send('createWebhook', '/webhooks', { url: URL_OF_HOOK, events, ...body })

const sealedOf = async (id: string) => {
  const { rows } = await gateway.database.query<{ secret_sealed: string }>(
    'SELECT secret_sealed FROM webhooks WHERE id = $1',
    [id],
  )
  return rows[0]?.secret_sealed ?? ''
}
const secretOf = async (id: string) => gateway.dependencies.keys.openText(await sealedOf(id), `webhook:${id}:secret`)

describe('a webhook', () => {
  test('is created with a secret that is returned once and stored sealed', async () => {
    const { status, body } = await create(admin)
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(String),
        tenant_id: null,
        url: URL_OF_HOOK,
        events,
        enabled: true,
        disabled_reason: null,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    })
    expect(await secretOf(body.id)).toBe(body.secret)
    expect(await sealedOf(body.id)).not.toContain(body.secret.slice(6, 20))
    const { secret, ...shown } = body
    expect((await admin.send('getWebhook', `/webhooks/${body.id}`)).body).toEqual(shown)
    const list = await admin.send('listWebhooks', '/webhooks')
    expect(list.body).toMatchObject({ data: [shown], meta: { total: 1 } })
    expect(JSON.stringify(list.body)).not.toContain(secret)
  })

  test('stores a given secret and never returns it', async () => {
    const { body } = await create(admin, { secret: SECRET, enabled: false })
    expect(body).not.toHaveProperty('secret')
    expect(body.enabled).toBe(false)
    expect(await secretOf(body.id)).toBe(SECRET)
  })

  test('changes single fields, and enabling it clears the reason why it was disabled', async () => {
    const { body: made } = await create(admin, { secret: SECRET })
    await gateway.database.query(`UPDATE webhooks SET enabled = false, disabled_reason = 'gone'`)
    const path = `/webhooks/${made.id}`
    const { body: off } = await admin.send('updateWebhook', path, { events: ['target.created'] })
    expect(off).toMatchObject({ url: URL_OF_HOOK, events: ['target.created'], enabled: false, disabled_reason: 'gone' })
    expect(await secretOf(made.id)).toBe(SECRET)
    const other = `whsec_${Buffer.alloc(64, 4).toString('base64')}`
    const { body: on } = await admin.send('updateWebhook', path, { enabled: true, secret: other })
    expect(on).toMatchObject({ events: ['target.created'], enabled: true, disabled_reason: null })
    expect(on).not.toHaveProperty('secret')
    expect(await secretOf(made.id)).toBe(other)
  })

  test('is deleted with its deliveries', async () => {
    const { body } = await create(admin)
    await gateway.database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, expires_at)
       VALUES ($1, $2, $1, 'target.created', '{}', now())`,
      [uuidv7(), body.id],
    )
    expect((await admin.send('deleteWebhook', `/webhooks/${body.id}`)).status).toBe(204)
    expect((await gateway.database.query('SELECT FROM webhook_deliveries')).rowCount).toBe(0)
    expect(refusal(await admin.send('getWebhook', `/webhooks/${body.id}`))).toEqual(refused(404, 'NOT_FOUND'))
  })

  test('has audit records with its origin, without the token in its URL', async () => {
    const { body } = await create(admin)
    await admin.send('updateWebhook', `/webhooks/${body.id}`, { url: 'https://public.test/other?token=u' })
    const { rows } = await gateway.database.query<{ details: object }>(
      `SELECT details FROM audit_records WHERE resource_id = $1 ORDER BY number`,
      [body.id],
    )
    expect(rows.map(({ details }) => details)).toEqual([
      { origin: 'https://public.test', events, enabled: true },
      { changes: {}, url_changed: true, secret_changed: false },
    ])
  })
})

describe('a URL is refused', () => {
  const path = '/url'
  test.each([
    ['ftp://public.test/', 'must begin with https:// or http://'],
    ['https://user:pass@public.test/', 'must hold no user name and no password'],
    ['public.test', 'must be a URL'],
    ['http://127.0.0.1/', 'leads to an address that is not public'],
    ['http://[::ffff:10.0.0.1]/', 'leads to an address that is not public'],
    ['http://2130706433/', 'leads to an address that is not public'],
    ['https://private.test/', 'leads to an address that is not public'],
    ['https://metadata.test/', 'leads to an address that is not public'],
    ['https://nowhere.test/', 'names a host that cannot be resolved'],
  ])('%s: %s', async (url, message) => {
    const details = { errors: [{ path, message }] }
    expect(refusal(await create(admin, { url }))).toEqual(refused(400, 'VALIDATION_ERROR', details))
    const { body } = await create(admin)
    const changed = await admin.send('updateWebhook', `/webhooks/${body.id}`, { url })
    expect(refusal(changed)).toEqual(refused(400, 'VALIDATION_ERROR', details))
  })
})

test.each([
  [{ events: [] }, '/events'],
  [{ events: ['deployment.exploded'] }, '/events/0'],
  [{ events: ['target.created', 'target.created'] }, '/events'],
  [{ secret: 'whsec_short' }, '/secret'],
  [{ secret: 'a'.repeat(50) }, '/secret'],
  [{ secret: `whsec_${'A'.repeat(45)}` }, '/secret'],
  [{ secret: null }, '/secret'],
  [{ retries: 3 }, '/retries'],
])('%j is refused at %s', async (body, path) => {
  const answer = await create(admin, body)
  expect(answer.status).toBe(400)
  const errors = answer.body.error.details.errors as { path: string }[]
  expect(new Set(errors.map((error) => error.path))).toEqual(new Set([path]))
})

test('a webhook needs the permissions to read what its events contain', async () => {
  const role = { name: 'hooks', permissions: ['webhooks:create', 'webhooks:update', 'webhooks:read', 'targets:read'] }
  await admin.send('createRole', '/admin/roles', role)
  const user = await addUser(gateway, { role: 'user' })
  await gateway.database.query('DELETE FROM user_roles WHERE user_id = $1', [user.id])
  await gateway.database.query(`INSERT INTO user_roles SELECT $1, id FROM roles WHERE name = 'hooks'`, [user.id])
  const client = clientOf(gateway, user.token)
  expect((await create(client, { events: ['target.created'] })).status).toBe(201)
  const asked = await create(client, { events: ['target.created', 'deployment.started'] })
  expect(refusal(asked)).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
  // The same applies to a change of the URL of a webhook of another user.
  const { body } = await create(admin)
  const led = await client.send('updateWebhook', `/webhooks/${body.id}`, { url: 'https://public.test/mine' })
  expect(refusal(led)).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
})

describe('tenants', () => {
  test('see only their own webhooks, not those without a tenant', async () => {
    const { body: own } = await create(ofA)
    expect(own.tenant_id).toBe(tenantA)
    const { body: shared } = await create(admin)
    const list = await ofA.send('listWebhooks', '/webhooks')
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([own.id])
    expect((await admin.send('listWebhooks', '/webhooks')).body.meta.total).toBe(2)
    const missing = refused(404, 'NOT_FOUND')
    const path = `/webhooks/${shared.id}`
    expect(refusal(await ofA.send('getWebhook', path))).toEqual(missing)
    expect(refusal(await ofA.send('updateWebhook', path, { enabled: false }))).toEqual(missing)
    expect(refusal(await ofA.send('deleteWebhook', path))).toEqual(missing)
    expect(refusal(await ofA.send('listWebhookDeliveries', `${path}/deliveries`))).toEqual(missing)
    const redeliver = `${path}/deliveries/${UNKNOWN_ID}/redeliver`
    expect(refusal(await ofA.send('redeliverWebhook', redeliver))).toEqual(missing)
    expect((await admin.send('getWebhook', path)).body.enabled).toBe(true)
  })

  test('cannot be deleted if they have a webhook, and can have a hundred webhooks at most', async () => {
    await gateway.database.query(
      `INSERT INTO webhooks (id, tenant_id, url, events, secret_sealed)
       SELECT gen_random_uuid(), $1, '', '{}', '' FROM generate_series(1, 99)`,
      [tenantA],
    )
    expect((await create(ofA)).status).toBe(201)
    expect(refusal(await create(ofA))).toEqual(refused(409, 'CONFLICT'))
    expect((await create(admin)).status).toBe(201)
    const deleted = await admin.send('deleteTenant', `/tenants/${tenantA}`)
    expect(deleted.status).toBe(409)
    expect(deleted.body.error.message).toContain('a webhook')
  })
})

test('deliveries are listed newest first, by status, with excerpts', async () => {
  const { body: webhook } = await create(ofA)
  const ids = [uuidv7(), uuidv7(), uuidv7()]
  for (const [index, id] of ids.entries()) {
    await gateway.database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, tenant_id, message_id, event, payload, status, created_at, expires_at,
         attempts, response_status, response_body)
       VALUES ($1, $2, $3, $1, 'deployment.started', $4, $5, now() - make_interval(mins => $6), now(), 2, 500, 'no')`,
      [id, webhook.id, tenantA, 'x'.repeat(3_000), index === 1 ? 'delivered' : 'pending', index],
    )
  }
  const path = `/webhooks/${webhook.id}/deliveries`
  const { body } = await ofA.send('listWebhookDeliveries', `${path}?limit=2`)
  expect(body.meta).toMatchObject({ total: 3, total_pages: 2 })
  expect(body.data).toMatchObject([
    { id: ids[0], status: 'pending', attempts: 2, response_status: 500, response_body: 'no' },
    { id: ids[1], status: 'delivered', next_attempt_at: null },
  ])
  expect(body.data[0].next_attempt_at).not.toBeNull()
  expect(body.data[0].payload).toBe('x'.repeat(1_024))
  const delivered = await ofA.send('listWebhookDeliveries', `${path}?status=delivered`)
  expect(delivered.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[1]])
})

describe('the item in a webhook event equals the item of the list', () => {
  const name = () => uuidv7()
  const times = { start_time: '2026-01-02T18:00:00Z', end_time: '2026-01-02T19:00:00Z' }
  const weekly = { recurrence: 'FREQ=WEEKLY', time_zone: 'Europe/Berlin' }
  const tags = [
    { key: 'b', value: '1' },
    { key: 'a', value: '2' },
  ]
  const connection = { type: 'ssh', host: 'h.test', username: 'u', password: 'planted' }
  const target = () => ({ name: name(), connection, tags, variables: { colour: 'blue' } })
  const freeze = () => ({ name: name(), ...times, ...weekly })
  const RECORDS = [
    ['target', 'listTargets', '/targets', async () => (await admin.send('createTarget', '/targets', target())).body.id],
    [
      'freeze',
      'listFreezes',
      '/deployment-freezes',
      async () => (await admin.send('createFreeze', '/deployment-freezes', freeze())).body.id,
    ],
    ['deployment', 'listDeployments', '/deployments', () => addDeployment(gateway.database, {})],
    ['pending', 'listPending', '/deployments/pending', () => addPending(gateway.database, {})],
  ] as const satisfies [ItemKind, ...unknown[]][]

  test.each(RECORDS)('%s', async (kind, operation, path, add) => {
    const id = await add()
    const { body } = await admin.send(operation, path)
    const listed = (body.data ?? body).find((item: { id: string }) => item.id === id)
    expect(listed).toBeDefined()
    const looking = {
      db: gateway.database,
      keys: gateway.dependencies.keys,
      viewer: { tenant_id: null, may_override_freezes: true },
    }
    expect(JSON.parse(JSON.stringify(await listItem(looking, kind, id)))).toEqual(listed)
  })
})
