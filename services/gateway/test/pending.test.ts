import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { COMPATIBLE_VERSION, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { deriveQueueColumns, OTHER_VERSIONS } from '@slipway/testing'
import { addDeployment, addPending } from './deployment-rows.ts'
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
      ...['waiting_for', 'waiting_reason'],
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
  const source = { type: 'solution', id: uuidv7(), name: 'web', version: '2.1.0', targets: 12, first }
  const item = {
    source_type: 'solution',
    source_id: source.id,
    source_name: 'web',
    source_version: '2.1.0',
    target_count: 12,
    targets: first,
  }
  const waiting = await addPending(gateway.database, { source })
  const cancelled = await addPending(gateway.database, { source, status: 'cancelled' })
  for (const [id, query] of [
    [waiting, ''],
    [cancelled, '?status=cancelled'],
  ]) {
    const { body } = await admin.send('listPending', `/deployments/pending${query}`)
    expect(body).toEqual([expect.objectContaining({ id, ...item })])
  }
})

test('a held request names its freeze and the end; a request that overrides it is not held', async () => {
  const { database } = gateway
  const solution = uuidv7()
  const command = (may_override_freezes: boolean, reason: string | null) => ({
    plan: { source: { type: 'solution', id: solution } },
    caller: { may_override_freezes, tenant_id: null },
    freeze_override: reason === null ? null : { reason },
  })
  const [held, other, overriding, forbidden] = [
    await addPending(database, { command: command(false, null) }),
    await addPending(database, {
      command: { ...command(false, null), plan: { source: { type: 'action', id: solution } } },
    }),
    await addPending(database, { command: command(true, 'urgent') }),
    await addPending(database, { command: command(false, 'urgent') }),
  ]
  const freeze = uuidv7()
  await database.query(`INSERT INTO sources (id, kind, name, updated_at) VALUES ($1, 'solution', 'held back', now())`, [
    solution,
  ])
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, solution_id, updated_at)
     VALUES ($1, 'Year end', now() - interval '1 hour', '2099-01-01T00:00:00Z', $2, now())`,
    [freeze, solution],
  )
  try {
    const { body } = await admin.send('listPending', '/deployments/pending')
    const waiting = body.map(({ id, waiting_for, waiting_reason }: Record<string, string>) => [
      id,
      waiting_for,
      waiting_reason,
    ])
    const reason = 'Held back by freeze "Year end" until 2099-01-01T00:00:00.000Z'
    expect(waiting).toEqual([
      [held, 'freeze', reason],
      [other, 'no_compatible_instance', expect.any(String)],
      [overriding, 'no_compatible_instance', expect.any(String)],
      [forbidden, 'freeze', reason],
    ])
  } finally {
    await database.query('DELETE FROM freezes WHERE id = $1', [freeze])
  }
  const { body } = await admin.send('listPending', '/deployments/pending')
  expect(body.map(({ waiting_for }: Record<string, string>) => waiting_for)).toEqual(
    Array(4).fill('no_compatible_instance'),
  )
})

describe('a pending request waits for', () => {
  const query = (sql: string, values: unknown[] = []) => gateway.database.query(sql, values)
  beforeEach(async () => {
    await query('TRUNCATE leases, instance_slots, instances CASCADE')
    await query('UPDATE queue_settings SET tenant_running_limit = NULL')
  })

  async function addInstance(capacity: number, version = SLIPWAY_VERSION, draining = false, heartbeat = 'now()') {
    const id = uuidv7()
    await query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, draining,
         last_heartbeat_at) VALUES ($1, $1::uuid::text, $2, $3, '', $4, ${heartbeat})`,
      [id, version, capacity, draining],
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

  test('an instance, with the reason why none can take it', async () => {
    await addPending(gateway.database)
    expect(await reasons()).toEqual([
      [
        'no_compatible_instance',
        `No orchestration instance has joined: start one of version ${COMPATIBLE_VERSION} with a join token`,
      ],
    ])
    await addInstance(1, OTHER_VERSIONS.minor)
    await addInstance(1, SLIPWAY_VERSION, true)
    await addInstance(1, SLIPWAY_VERSION, false, "now() - interval '31 seconds'")
    await addInstance(1, SLIPWAY_VERSION, false, 'NULL')
    // A removed instance is not part of the reason.
    await query('UPDATE instances SET removed_at = now() WHERE id = $1', [
      await addInstance(1, SLIPWAY_VERSION, false, 'NULL'),
    ])
    expect(await reasons()).toEqual([
      [
        'no_compatible_instance',
        'No orchestration instance can take it: of 4 instances 2 sent no heartbeat for 30 seconds, 1 draining, ' +
          `1 of another version than ${COMPATIBLE_VERSION}`,
      ],
    ])
  })

  test('an instance, if only other tenants have one, or for capacity with an instance of its tenant', async () => {
    const [own, other] = [await addTenant(gateway, 'own'), await addTenant(gateway, 'other')]
    await addPending(gateway.database, { tenant_id: own.id })
    const instance = await addInstance(1)
    await query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [instance, other.id])
    expect(await reasons()).toEqual([
      ['no_compatible_instance', 'No orchestration instance can take it: of 1 instance 1 for other tenants only'],
    ])
    await query('UPDATE instances SET tenant_id = $2 WHERE id = $1', [instance, own.id])
    await lease(instance, 1)
    expect(await reasons()).toEqual([['capacity', 'All 1 slot of 1 orchestration instance are taken; it is next']])
  })

  test('capacity, with the requests before it and an estimated start from the duration of past runs', async () => {
    const instance = await addInstance(2)
    await lease(instance, 2)
    for (let n = 0; n < 3; n += 1) await addPending(gateway.database)
    expect(await reasons()).toEqual([
      ['capacity', 'All 2 slots of 1 orchestration instance are taken; it is next'],
      ['capacity', 'All 2 slots of 1 orchestration instance are taken; 1 request before it'],
      ['capacity', 'All 2 slots of 1 orchestration instance are taken; 2 requests before it'],
    ])
    expect((await waiting()).map((item) => item['estimated_start'])).toEqual([undefined, undefined, undefined])

    // Five runs of one minute: two slots start one deployment every 30 seconds.
    for (let n = 0; n < 5; n += 1) await lease(instance, 1, true)
    const { rows } = await query('SELECT now() AS now')
    const seconds = (await waiting()).map(({ estimated_start }) =>
      Math.round((Date.parse(`${estimated_start}Z`.replace(' ', 'T')) - rows[0]?.['now'].getTime()) / 10_000),
    )
    expect(seconds).toEqual([3, 6, 9])
  })

  test('a free slot that it is about to receive', async () => {
    await addInstance(2)
    await addPending(gateway.database)
    expect(await reasons()).toEqual([['capacity', 'About to start: 2 of 2 slots of 1 orchestration instance free']])
    await query('UPDATE pending_requests SET retry_count = 2, last_retry_at = now()')
    expect(await reasons()).toEqual([['capacity', 'Its dispatch failed and is about to be tried again']])
  })

  test('its tenant, if that runs as many deployments as allowed', async () => {
    const instance = await addInstance(9)
    await lease(instance, 1)
    const tenant = uuidv7()
    await query('INSERT INTO tenants (id, name, slug) VALUES ($1, $1::uuid::text, $1::uuid::text)', [tenant])
    await addDeployment(gateway.database, { tenant_id: tenant, state: 'running' })
    await addDeployment(gateway.database, { tenant_id: tenant, state: 'success' })
    await addPending(gateway.database, { tenant_id: tenant, tenant_name: 'acme' })
    await addPending(gateway.database)
    await query('UPDATE queue_settings SET tenant_running_limit = 2')
    expect((await reasons()).map(([what]) => what)).toEqual(['capacity', 'capacity'])
    await query('UPDATE queue_settings SET tenant_running_limit = 1')
    expect(await reasons()).toEqual([
      ['tenant_limit', 'Tenant "acme" runs 1 deployment, as many as a tenant may at once (1)'],
      ['capacity', expect.stringContaining('About to start')],
    ])
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
    await query(`INSERT INTO pending_requests (id, priority, command, source_type, source_id, source_name, source_version,
                   target_count, first_targets)
                 SELECT gen_random_uuid(), n % 7, '{}', 'action', gen_random_uuid(), 'deploy', '1.0.0', 0, '[]'
                   FROM generate_series(1, 3000) n`)
    await deriveQueueColumns(gateway.database)
    const items = await waiting()
    expect(items.map(({ position }) => position)).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
    const priorities = items.map(({ priority }) => Number(priority))
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a))
  })
})
