import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Queryable } from '@slipway/database'
import type { QueryConfig } from 'pg'
import { LISTED } from '../src/deployments/list.sql.ts'
import { addDeployment, countDeployments } from './deployment-rows.ts'
import { addUser, type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

const COUNT = 2_500
let gateway: TestGateway
let admin: Client
let ofTenant: Client
let tenant: string
/** All ids, newest first. */
let all: string[]
/** The creation times of the deployments, in the same order. */
let times: Date[]
/** A target of every tenth deployment. */
let target: { id: string; sqid: string }

/** The id of the source `service NUMBER`. */
const sourceId = (number: number) => `00000000-0000-4000-8000-00000000000${number}`

const list = async (query: string, client = admin) => {
  const { status, body } = await client.send('listDeployments', `/deployments?${query}`)
  expect(status).toBe(200)
  return body as { data: { id: string }[]; meta: { total: number; has_next: boolean } }
}
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = (await admin.send('createTenant', '/tenants', { name: 'T' })).body.id
  ofTenant = clientOf(gateway, (await addUser(gateway, { role: 'user', tenant_id: tenant })).token)
  const first = await addDeployment(gateway.database, { state: 'success' })
  await gateway.database.query(
    `INSERT INTO deployments (id, state, tenant_id, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps, triggered_by, created_at, started_at, completed_at)
     SELECT gen_random_uuid(), CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'success' END::deployment_state,
       CASE WHEN n % 5 = 0 THEN $2::uuid END, CASE WHEN n % 2 = 0 THEN 'solution' ELSE 'action' END::source_kind,
       ('00000000-0000-4000-8000-00000000000' || n % 7)::uuid, 'service ' || n % 7, '1.' || n % 4 || '.0', plan_head, selection,
       total_steps, 'user ' || n % 6, created_at - n / 2 * interval '1 s', started_at,
       completed_at
     FROM deployments, generate_series(1, ${COUNT - 1}) n WHERE id = $1`,
    [first, tenant],
  )
  const { rows } = await gateway.database.query<{ id: string; created_at: Date }>(
    'SELECT id, created_at FROM deployments ORDER BY created_at DESC, id DESC',
  )
  all = rows.map(({ id }) => id)
  await countDeployments(
    gateway.database,
    all.filter((id) => id !== first),
  )
  times = rows.map(({ created_at }) => created_at)
  target = (await admin.send('createTarget', '/targets', { name: 'T', connection: { type: 'simulated' } })).body
  await gateway.database.query(
    `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
     SELECT id, 7, $1, 'T', '{}' FROM unnest($2::uuid[]) AS id`,
    [target.id, all.filter((_, index) => index % 10 === 0)],
  )
})
afterAll(() => gateway.close())

describe('pages', () => {
  test('form the whole list together', async () => {
    const seen: string[] = []
    for (let page = 1; page <= COUNT / 100; page += 1) {
      const { data, meta } = await list(`limit=100&page=${page}`)
      expect(meta.total).toBe(COUNT)
      seen.push(...data.map(({ id }) => id))
    }
    expect(seen).toEqual(all)
  })

  test.each([11, 24, 25, 26, 83, 84, 85])('page %i of 30 has the right deployments', async (page) => {
    const { data, meta } = await list(`limit=30&page=${page}`)
    expect(data.map(({ id }) => id)).toEqual(all.slice((page - 1) * 30, page * 30))
    expect(meta.has_next).toBe(page * 30 < COUNT)
  })

  test('have only the deployments of the tenant', async () => {
    const { data, meta } = await list('limit=100&page=5', ofTenant)
    expect(meta.total).toBe(499)
    expect(data.length).toBe(99)
  })
})

test('the first page of a small table is read by an index, not by reading and sorting all rows', async () => {
  const filter = { tenant_id: null, of_tenant: null, of_tenant_number: null, of_environment: null }
  const page = { of_environment_number: null, states: null, source_types: null, take: 50, skip: 0, after: null }
  let plan = ''
  const reading = gateway.database.transaction(async (tx) => {
    // With no tenant, row-level security says least about how many rows are visible.
    await tx.query('UPDATE deployments SET tenant_id = NULL')
    await tx.query('ANALYZE deployments')
    const asked: (string | QueryConfig)[] = []
    const recording: Queryable = {
      query(statement) {
        asked.push(statement)
        return tx.query(statement)
      },
    }
    await LISTED.fromNewest.one(recording, { ...filter, ...page })
    const [statement] = asked as [QueryConfig]
    const { rows } = await tx.query({ ...statement, text: `EXPLAIN ${statement.text}` })
    plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    throw new Error('only to read the plan')
  })
  await expect(reading).rejects.toThrow('only to read the plan')
  expect(plan).toMatch(/Index Only Scan using deployments_created_at_id_tenant_id_idx on deployments d/)
  expect(plan).not.toMatch(/Seq Scan on deployments d/)
})

test.each(['deployment_state', 'source_kind'])('each value of %s has a partial index of its own', async (type) => {
  const { rows } = await gateway.database.query<{ value: string }>(
    `SELECT e.enumlabel AS value FROM pg_enum e
      WHERE e.enumtypid = $1::regtype AND NOT EXISTS (
        SELECT FROM pg_index i WHERE i.indrelid = 'deployments'::regclass
           AND pg_get_expr(i.indpred, i.indrelid) LIKE '(% = ''' || e.enumlabel || '''::' || $1 || ')')`,
    [type],
  )
  expect(rows).toEqual([])
})

describe('filtered totals and pages', () => {
  const FILTERS: [string, string][] = [
    ['state=failed', `state = 'failed'`],
    ['source_type=action', `source_type = 'action'`],
    ['state=success&source_type=solution', `state = 'success' AND source_type = 'solution'`],
    ['state=running', `state = 'running'`],
    ['search=VICE%203', `source_name ILIKE '%vice 3%'`],
    ['source_type=sequence', 'false'],
    ['search=fail', `state = 'failed'`],
    ['search=FAILED&source_type=action', `state = 'failed' AND source_type = 'action'`],
    ['search=roll', `state IN ('rolling_back', 'rolled_back')`],
    ['search=e', `source_name ILIKE '%e%' OR state::text ILIKE '%e%'`],
    ['search=e&state=failed', `state = 'failed'`],
    ['search=service', `source_name ILIKE '%service%'`],
    ['search=%25', 'false'],
    ['search=service%201&state=failed', `source_name = 'service 1' AND state = 'failed'`],
  ]

  test.each(FILTERS)('the total for %s is exact', async (query, where) => {
    const { rows } = await gateway.database.query<{ n: number }>(`SELECT count(*) AS n FROM deployments WHERE ${where}`)
    const { data, meta } = await list(`${query}&limit=1`)
    expect([meta.total, data.length]).toEqual([rows[0]?.n, Math.min(1, rows[0]?.n ?? 0)])
  })

  const inTime = (from: number, before: number) =>
    `created_at >= '${times[from]?.toISOString()}' AND created_at < '${times[before]?.toISOString()}'`
  const onTarget = () => `id IN (SELECT deployment_id FROM deployment_targets WHERE target_id = '${target.id}')`
  const NARROWED: [string, () => string, () => string][] = [
    ['source', () => `action_id=${sourceId(3)}`, () => `source_id = '${sourceId(3)}' AND source_type = 'action'`],
    ['another kind of source', () => `solution_id=${sourceId(3)}&source_type=action`, () => 'false'],
    ['version', () => 'version=1.2.0', () => `source_version = '1.2.0'`],
    ['version and state', () => 'version=1.2.0&state=failed', () => `source_version = '1.2.0' AND state = 'failed'`],
    ['user', () => 'triggered_by=user%201', () => `triggered_by = 'user 1'`],
    ['user in full', () => 'triggered_by=user', () => 'false'],
    ['target', () => `target_id=${target.id}`, onTarget],
    ['target by SqId', () => `target_id=${target.sqid}`, onTarget],
    [
      'target and name',
      () => `target_id=${target.sqid}&search=service%203`,
      () => `${onTarget()} AND source_name = 'service 3'`,
    ],
    [
      'first time',
      () => `created_from=${times[100]?.toISOString()}`,
      () => `created_at >= '${times[100]?.toISOString()}'`,
    ],
    [
      'last time',
      () => `created_before=${times[100]?.toISOString()}`,
      () => `created_at < '${times[100]?.toISOString()}'`,
    ],
    [
      'both times and a user',
      () =>
        `created_from=${times[2_000]?.toISOString()}&created_before=${times[9]?.toISOString()}&triggered_by=user%202`,
      () => `${inTime(2_000, 9)} AND triggered_by = 'user 2'`,
    ],
    [
      'name and user',
      () => 'search=service%203&triggered_by=user%201',
      () => `source_name = 'service 3' AND triggered_by = 'user 1'`,
    ],
    [
      'state by search and user',
      () => 'search=fail&triggered_by=user%203',
      () => `state = 'failed' AND triggered_by = 'user 3'`,
    ],
    ['search that all names fit, and version', () => 'search=e&version=1.1.0', () => `source_version = '1.1.0'`],
  ]

  test.each(NARROWED)('filtering by %s is exact', async (_, query, where) => {
    const { rows } = await gateway.database.query<{ id: string }>(
      `SELECT id FROM deployments WHERE ${where()} ORDER BY created_at DESC, id DESC`,
    )
    const { data, meta } = await list(`${query()}&limit=20`)
    expect(meta.total).toBe(rows.length)
    expect(data.map(({ id }) => id)).toEqual(rows.slice(0, 20).map(({ id }) => id))
  })

  test('filtering by user counts only deployments that the caller sees', async () => {
    const { rows } = await gateway.database.query<{ n: number }>(
      `SELECT count(*) AS n FROM deployments WHERE triggered_by = 'user 1' AND tenant_id = $1`,
      [tenant],
    )
    expect((await list('triggered_by=user%201', ofTenant)).meta.total).toBe(rows[0]?.n)
  })

  test.each([11, 13, 24, 25])('filtering by time has the right page %i of 100', async (page) => {
    const { data, meta } = await list(`created_from=1970-01-01T00:00:00Z&limit=100&page=${page}`)
    expect(meta.total).toBe(COUNT)
    expect(data.map(({ id }) => id)).toEqual(all.slice((page - 1) * 100, page * 100))
  })

  test('filtering by an impossible time is refused', async () => {
    const { status, body } = await admin.send('listDeployments', '/deployments?created_from=2016-12-31T23:59:60Z')
    expect([status, body.error?.details]).toMatchObject([400, { errors: [{ path: 'query/created_from' }] }])
  })

  test('a search that matches a state finds deployments of that state and with a matching name', async () => {
    const named = await addDeployment(gateway.database, { state: 'success', source_name: 'back on its feet' })
    const rolled = await addDeployment(gateway.database, { state: 'rolled_back' })
    expect((await list('search=back')).data.map(({ id }) => id)).toEqual([rolled, named])
    await gateway.database.query('DELETE FROM deployments WHERE id = ANY($1)', [[named, rolled]])
    expect((await list('search=back')).data).toEqual([])
  })
})
