import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addPending, addPendingRequests } from '@slipway/testing'
import { addDeployment } from './deployment-rows.ts'
import { addTenant, type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
beforeEach(() => gateway.database.query('DELETE FROM pending_requests'))
afterAll(() => gateway.close())

test('pending requests are ordered by position; ended requests are listed only on request', async () => {
  const [low, high, later] = [
    await addPending(gateway.database, { priority: 0 }),
    await addPending(gateway.database, { priority: 9 }),
    await addPending(gateway.database, { priority: 9 }),
  ]
  const processing = await addPending(gateway.database, { status: 'processing' })
  const cancelled = await addPending(gateway.database, { status: 'cancelled' })
  const list = async (query = '') => {
    const { body } = await admin.send('listPending', `/deployments/pending${query}`)
    return body.map(({ id, position }: { id: string; position?: number }) => [id, position])
  }
  expect(await list()).toEqual([
    [high, 1],
    [later, 2],
    [low, 3],
    [processing, undefined],
  ])
  expect(await list('?status=cancelled')).toEqual([[cancelled, undefined]])
  const { body } = await admin.send('listPending', '/deployments/pending?status=pending')
  expect(Object.keys(body[0]).sort()).toEqual(
    [
      ...['id', 'triggered_by', 'queued_at', 'created_at', 'retry_count', 'status', 'priority', 'position'],
      ...['source_type', 'source_id', 'source_name', 'source_version', 'target_count', 'targets'],
      ...['waiting_for', 'waiting_reason', 'blockers', 'earliest_start', 'can_approve'],
    ].sort(),
  )
  expect(body[0].queued_at).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
})

test('one pending request is read by its id, in every status and by its tenant alone', async () => {
  const { id: tenant_id, admin: owner } = await addTenant(gateway, 'owner of the request')
  const { admin: other } = await addTenant(gateway, 'other tenant')
  const [waiting, cancelled] = [
    await addPending(gateway.database, { tenant_id }),
    await addPending(gateway.database, { status: 'cancelled' }),
  ]
  const read = (client: Client, id: string) => client.send('getPending', `/deployments/pending/${id}`)
  const listed = await admin.send('listPending', '/deployments/pending')
  expect(await read(admin, waiting)).toMatchObject({ status: 200, body: listed.body[0] })
  expect(await read(admin, cancelled)).toMatchObject({ status: 200, body: { id: cancelled, status: 'cancelled' } })
  expect((await read(owner, waiting)).status).toBe(200)
  expect((await read(owner, cancelled)).status).toBe(404)
  for (const id of [waiting, cancelled, uuidv7(), 'no-id']) expect((await read(other, id)).status).toBe(404)
})

test('a pending request contains its source and its targets', async () => {
  const first = [{ id: uuidv7(), name: 'web-1' }]
  const source = { type: 'solution', id: uuidv7(), name: 'web', version: '2.1.0' }
  const parts = { source, target_count: 12, first_targets: first }
  const item = {
    source_type: 'solution',
    source_id: source.id,
    source_name: 'web',
    source_version: '2.1.0',
    target_count: 12,
    targets: first,
  }
  const waiting = await addPending(gateway.database, parts)
  const cancelled = await addPending(gateway.database, { ...parts, status: 'cancelled' })
  for (const [id, query] of [
    [waiting, ''],
    [cancelled, '?status=cancelled'],
  ]) {
    const { body } = await admin.send('listPending', `/deployments/pending${query}`)
    expect(body).toEqual([expect.objectContaining({ id, ...item })])
  }
})

describe('a pending request waits for', () => {
  const query = (sql: string, values: unknown[] = []) => gateway.database.query(sql, values)
  beforeEach(async () => {
    await query('TRUNCATE leases, instance_slots, instances CASCADE')
    await query('UPDATE queue_settings SET tenant_running_limit = NULL')
  })

  async function addInstance(capacity: number) {
    const id = uuidv7()
    await query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
       VALUES ($1, $1::uuid::text, $2, $3, '', now())`,
      [id, SLIPWAY_VERSION, capacity],
    )
    await query('INSERT INTO instance_slots SELECT $1, generate_series(0, $2 - 1)', [id, capacity])
    return id
  }
  /** Inserts leases of the first slots of an instance. Ended leases lasted 60 seconds. */
  const lease = (instance: string, slots: number, ended = false) =>
    query(
      `INSERT INTO leases (instance_id, slot, deployment_id, acquired_at, ended_at, end_reason)
       SELECT $1, slot, gen_random_uuid(), now() - interval '60 seconds', CASE WHEN $3 THEN now() END,
              CASE WHEN $3 THEN 'finished' END FROM generate_series(0, $2 - 1) slot`,
      [instance, slots, ended],
    )
  async function waiting(): Promise<Record<string, string>[]> {
    const { body } = await admin.send('listPending', '/deployments/pending')
    return body
  }
  const reasons = async () => (await waiting()).map((item) => [item['waiting_for'], item['waiting_reason']])

  test('a slot, with its place in the queue and an estimated start from the duration of past runs', async () => {
    const instance = await addInstance(2)
    await lease(instance, 2)
    for (let n = 0; n < 3; n += 1) await addPending(gateway.database)
    expect((await waiting()).map((item) => item['estimated_start'])).toEqual([undefined, undefined, undefined])
    expect((await waiting()).map((item) => item['earliest_start'])).toEqual([null, null, null])

    // Five runs of one minute: two slots start one deployment every 30 seconds.
    for (let n = 0; n < 5; n += 1) await lease(instance, 1, true)
    const { rows } = await query('SELECT now() AS now')
    const items = await waiting()
    const inTens = (time: string) => Math.round((Date.parse(time) - rows[0]?.['now'].getTime()) / 10_000)
    expect(items.map((item) => inTens(`${item['estimated_start']}Z`.replace(' ', 'T')))).toEqual([3, 6, 9])
    expect(items.map((item) => inTens(`${item['earliest_start']}`))).toEqual([3, 6, 9])
  })

  test('nothing but the next round, if a slot is free', async () => {
    await addInstance(2)
    await addPending(gateway.database)
    const [item] = await waiting()
    expect(item).toMatchObject({
      ...{ waiting_for: 'capacity', waiting_reason: 'About to start: 2 of 2 slots of 1 orchestration instance free' },
      blockers: [],
    })
    // Both are the time of the answer.
    expect(item?.['estimated_start']).toBe(item?.['earliest_start']?.slice(0, 19).replace('T', ' '))
  })

  test('all that blocks it, each once; the filter names the first', async () => {
    const { id: tenant_id, admin: owner } = await addTenant(gateway, 'blocked')
    const freeze = uuidv7()
    await query(
      `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, updated_at)
       VALUES ($1, 'Year end', now() - interval '1 hour', '2099-01-01T00:00:00Z', $2, now())`,
      [freeze, tenant_id],
    )
    await lease(await addInstance(1), 1)
    await addDeployment(gateway.database, { tenant_id, state: 'running' })
    await query('UPDATE queue_settings SET tenant_running_limit = 1')
    const held = await addPending(gateway.database, { tenant_id, tenant_name: 'blocked' })
    const full = await addPending(gateway.database)

    const { body } = await admin.send('getPending', `/deployments/pending/${held}`)
    const instances = { name: 'any', selector: null, known: 1, matching: 1, accepting: 1, slots: 1, taken: 1 }
    const ends_at = '2099-01-01T00:00:00.000Z'
    expect(body).toMatchObject({
      ...{ waiting_for: 'freeze', waiting_reason: `Held back by freeze "Year end" until ${ends_at}` },
      earliest_start: null,
      blockers: [
        {
          ...{ code: 'freeze', until: ends_at, can_override: true },
          details: { freezes: [{ id: freeze, name: 'Year end', ends_at }] },
        },
        { code: 'tenant_limit', until: null, can_override: false, details: { running: 1, limit: 1 } },
        { code: 'capacity', details: { instances } },
      ],
    })
    const filtered = async (code: string) =>
      (await admin.send('listPending', `/deployments/pending?waiting_for=${code}`)).body.map(
        ({ id }: { id: string }) => id,
      )
    expect(await filtered('freeze')).toEqual([held])
    expect(await filtered('capacity')).toEqual([full])
    expect(await filtered('target_lock')).toEqual([])
    expect((await owner.send('listPending', '/deployments/pending')).body).toEqual([
      expect.objectContaining({ id: held, blockers: body.blockers }),
    ])
    await query('DELETE FROM freezes WHERE id = $1', [freeze])
  })

  test('requests of other tenants that come first, without naming what they hold', async () => {
    const [own, other] = [await addTenant(gateway, 'own'), await addTenant(gateway, 'other')]
    const instance = await addInstance(2)
    const target = uuidv7()
    await query(
      `INSERT INTO targets (id, name, connection, concurrency, updated_at)
       VALUES ($1, 'shared', '{"type":"local"}', 'queue', now())`,
      [target],
    )
    const running = await addDeployment(gateway.database, { tenant_id: other.id, state: 'running' })
    await query(
      `WITH l AS (INSERT INTO leases (instance_id, slot, deployment_id) VALUES ($1, 0, $2) RETURNING epoch)
       INSERT INTO target_locks (target_id, deployment_id, epoch) SELECT $3, $2, epoch FROM l`,
      [instance, running, target],
    )
    await addPending(gateway.database, { tenant_id: other.id, priority: 9 })
    const locked = await addPending(gateway.database, { tenant_id: own.id })
    await query(
      `WITH r AS (UPDATE pending_requests SET wants_targets = true WHERE id = $1 RETURNING id, rank)
       INSERT INTO pending_targets (request_id, target_id, rank) SELECT id, $2, rank FROM r`,
      [locked, target],
    )
    // One slot is free. The request of the other tenant takes it in the next round.
    const { body } = await own.admin.send('listPending', '/deployments/pending')
    expect(body).toEqual([expect.objectContaining({ id: locked, position: 2, waiting_for: 'target_lock' })])
    expect(body[0].blockers.map(({ code }: { code: string }) => code)).toEqual(['target_lock', 'capacity'])
    expect(body[0].waiting_reason).toMatch(/^Waits for the target "shared", held by another deployment since/)
    expect(JSON.stringify(body)).not.toContain(running)
    const seen = await admin.send('getPending', `/deployments/pending/${locked}`)
    expect(seen.body.held_targets).toEqual([expect.objectContaining({ deployment_id: running })])
  })

  test('a target, with the deployment that holds it since when', async () => {
    await lease(await addInstance(2), 1)
    const target = uuidv7()
    await query(
      `INSERT INTO targets (id, name, connection, concurrency, updated_at)
       VALUES ($1, 'web-1', '{"type":"local"}', 'queue', now())`,
      [target],
    )
    const { rows } = await query(
      `INSERT INTO target_locks (target_id, deployment_id, epoch) SELECT $1, deployment_id, epoch FROM leases
       RETURNING deployment_id, taken_at`,
      [target],
    )
    const request = await addPending(gateway.database)
    await query(
      `WITH r AS (UPDATE pending_requests SET wants_targets = true WHERE id = $1 RETURNING id, rank)
       INSERT INTO pending_targets (request_id, target_id, rank) SELECT id, $2, rank FROM r`,
      [request, target],
    )
    const [deployment_id, since] = [rows[0]?.['deployment_id'], rows[0]?.['taken_at'].toISOString()]
    expect(await reasons()).toEqual([
      ['target_lock', `Waits for the target "web-1", held by deployment ${deployment_id} since ${since}`],
    ])
    const [{ held_targets } = {}] = await waiting()
    expect(held_targets).toEqual([{ target_id: target, target_name: 'web-1', deployment_id, since }])
  })

  test('nothing if it is being dispatched', async () => {
    await addPending(gateway.database, { status: 'processing' })
    expect(Object.keys((await waiting())[0] ?? {})).not.toContain('waiting_for')
  })

  test('its turn in order, in a list of thousands of requests', async () => {
    await addPendingRequests(
      gateway.database,
      Array.from({ length: 3000 }, (_, n) => ({ priority: n % 7 })),
    )
    const items = await waiting()
    expect(items.map(({ position }) => position)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
    const priorities = items.map(({ priority }) => Number(priority))
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a))
  })
})
