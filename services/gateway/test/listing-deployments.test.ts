import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addDeployment } from './deployment-rows.ts'
import { addUser, type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

const COUNT = 2_500
let gateway: TestGateway
let admin: Client
let ofTenant: Client
let tenant: string
/** All ids, newest first. */
let all: string[]

const list = async (query: string, client = admin) => {
  const { status, body } = await client.send('listDeployments', `/deployments?${query}`)
  expect(status).toBe(200)
  return body as { data: { id: string }[]; meta: { total: number; has_next: boolean } }
}
const counters = async () =>
  (
    await gateway.database.query<{ n: number }>(
      `SELECT count(*) AS n FROM (
         SELECT tenant_id, environment_id, source_type, state, sum(count) AS n FROM deployment_counts GROUP BY 1, 2, 3, 4
         HAVING sum(count) <> 0
         EXCEPT
         SELECT tenant_id, environment_id, source_type, state, count(*) FROM deployments GROUP BY 1, 2, 3, 4) wrong`,
    )
  ).rows[0]?.n

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = (await admin.send('createTenant', '/tenants', { name: 'T' })).body.id
  ofTenant = clientOf(gateway, (await addUser(gateway, { role: 'user', tenant_id: tenant })).token)
  const first = await addDeployment(gateway.database, { state: 'success' })
  await gateway.database.query(
    `INSERT INTO deployments (id, state, tenant_id, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps, created_at, started_at, completed_at)
     SELECT gen_random_uuid(), CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'success' END::deployment_state,
       CASE WHEN n % 5 = 0 THEN $2::uuid END, CASE WHEN n % 2 = 0 THEN 'solution' ELSE 'action' END::source_kind, source_id,
       'service ' || n % 7, source_version, plan_head, selection, total_steps, created_at - n / 2 * interval '1 s', started_at,
       completed_at
     FROM deployments, generate_series(1, ${COUNT - 1}) n WHERE id = $1`,
    [first, tenant],
  )
  const { rows } = await gateway.database.query<{ id: string }>(
    'SELECT id FROM deployments ORDER BY created_at DESC, id DESC',
  )
  all = rows.map(({ id }) => id)
})
afterAll(() => gateway.close())

describe('pages', () => {
  test('put together, from near and from far, are the whole list', async () => {
    const seen: string[] = []
    for (let page = 1; page <= COUNT / 100; page += 1) {
      const { data, meta } = await list(`limit=100&page=${page}`)
      expect(meta.total).toBe(COUNT)
      seen.push(...data.map(({ id }) => id))
    }
    expect(seen).toEqual(all)
  })

  test.each([11, 24, 25, 26, 83, 84, 85])('page %i of 30 is what it should be, the last ones too', async (page) => {
    const { data, meta } = await list(`limit=30&page=${page}`)
    expect(data.map(({ id }) => id)).toEqual(all.slice((page - 1) * 30, page * 30))
    expect(meta.has_next).toBe(page * 30 < COUNT)
  })

  test('of a tenant likewise', async () => {
    const { data, meta } = await list('limit=100&page=5', ofTenant)
    expect(meta.total).toBe(499)
    expect(data.length).toBe(99)
  })
})

test.each(['deployment_state', 'source_kind'])('each %s has its index: no other can be used for it', async (type) => {
  const { rows } = await gateway.database.query<{ value: string }>(
    `SELECT e.enumlabel AS value FROM pg_enum e
      WHERE e.enumtypid = $1::regtype AND NOT EXISTS (
        SELECT FROM pg_index i WHERE i.indrelid = 'deployments'::regclass
           AND pg_get_expr(i.indpred, i.indrelid) LIKE '(% = ''' || e.enumlabel || '''::' || $1 || ')')`,
    [type],
  )
  expect(rows).toEqual([])
})

describe('totals', () => {
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

  test.each(FILTERS)('%s', async (query, where) => {
    const { rows } = await gateway.database.query<{ n: number }>(`SELECT count(*) AS n FROM deployments WHERE ${where}`)
    const { data, meta } = await list(`${query}&limit=1`)
    expect([meta.total, data.length]).toEqual([rows[0]?.n, Math.min(1, rows[0]?.n ?? 0)])
  })

  test('a search that fits a state finds deployments of that state and those named like it', async () => {
    const named = await addDeployment(gateway.database, { state: 'success', source_name: 'back on its feet' })
    const rolled = await addDeployment(gateway.database, { state: 'rolled_back' })
    expect((await list('search=back')).data.map(({ id }) => id)).toEqual([rolled, named])
    await gateway.database.query('DELETE FROM deployments WHERE id = ANY($1)', [[named, rolled]])
    expect((await list('search=back')).data).toEqual([])
  })

  test('follow every change, folded or not, also a rolled back one', async () => {
    const id = await addDeployment(gateway.database, { state: 'running', tenant_id: tenant })
    const failing = gateway.database.transaction(async (tx) => {
      await tx.query(`DELETE FROM deployments WHERE state = 'failed'`)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect((await list('state=running')).meta.total).toBe(1)
    await gateway.database.query(`UPDATE deployments SET state = 'cancelled', completed_at = now() WHERE id = $1`, [id])
    expect((await list('state=running')).meta.total).toBe(0)
    expect((await list('state=cancelled', ofTenant)).meta.total).toBe(1)
    await gateway.database.query('DELETE FROM deployments WHERE id = $1', [id])
    expect((await list('')).meta.total).toBe(COUNT)
    expect(await counters()).toBe(0)
  })

  test('stay exact while writers and folding go on side by side', async () => {
    const work = async (n: number) => {
      const id = await addDeployment(gateway.database, { state: 'running', tenant_id: n % 2 === 0 ? tenant : null })
      await gateway.database.query('SELECT fold_deployment_counts()')
      await gateway.database.query(`UPDATE deployments SET state = 'failed', completed_at = now() WHERE id = $1`, [id])
      const { total } = (await list('')).meta
      expect(total).toBeGreaterThan(COUNT)
    }
    await Promise.all(Array.from({ length: 60 }, (_, n) => work(n)))
    expect((await list('')).meta.total).toBe(COUNT + 60)
    expect(await counters()).toBe(0)
    // Enough has come together by now for a fold to be worth it.
    for (let more = 0; more < 100; more += 1) await addDeployment(gateway.database, { state: 'success', targets: 0 })
    await gateway.database.query('SELECT fold_deployment_counts()')
    const { rows } = await gateway.database.query<{ n: number }>('SELECT count(*) AS n FROM deployment_counts')
    expect(rows[0]?.n).toBeLessThan(60)
    expect(await counters()).toBe(0)
    expect((await list('')).meta.total).toBe(COUNT + 160)
  })
})
