import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import request from 'supertest'
import { addDeployment, execute } from './deployment-rows.ts'
import { type Client, clientOf, refusal, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

let gateway: TestGateway
let admin: Client
let ids: Record<'target' | 'action' | 'sequence' | 'solution' | 'webhook', string>

/** Their bytes have another order than the collation of the database. */
const NAMES = ['aC', 'Ab', 'é']
/** Two of the three have the same time. */
const TIME = `timestamptz '2026-01-31T09:00:00Z' + make_interval(secs => n / 2)`

/** Inserts a row for each name and returns their ids. `values` may use `name` and `n`. */
async function insert(table: string, columns: string, values: string): Promise<string[]> {
  const { rows } = await gateway.database.query<{ id: string }>(
    `INSERT INTO ${table} (id, created_at, ${columns}) SELECT gen_random_uuid(), ${TIME}, ${values}
       FROM unnest($1::text[]) WITH ORDINALITY AS given (name, n) RETURNING id`,
    [NAMES],
  )
  return rows.map(({ id }) => id)
}

async function insertSource(kind: 'action' | 'sequence' | 'solution'): Promise<string> {
  const [id = ''] = await insert('sources', 'kind, name, updated_at', `'${kind}', name, now()`)
  await gateway.database.query(
    `INSERT INTO source_versions (source_id, version, definition, created_at) SELECT $1, version, '{}', ${TIME}
       FROM unnest(ARRAY['1.0.0', '1.10.0', '1.9.0']) WITH ORDINALITY AS given (version, n)`,
    [id],
  )
  return id
}

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  const named = 'name, updated_at'
  // One has a position, and two have none.
  await insert('environments', `position, ${named}`, 'CASE n WHEN 2 THEN 5 END, name, now()')
  await insert('roles', named, 'name, now()')
  await insert('users', 'email, username, password_hash, updated_at', `name || '@a.test', name, '', now()`)
  await insert(
    'freezes',
    `start_time, end_time, start_offset, ${named}`,
    `now(), now() + interval '1 hour', '+00:00', name, now()`,
  )
  await insert('instance_grants', 'token_hash, uses, expires_at', 'name, 1, now()')
  await insert('instances', 'name, version, capacity, credential_hash', `name, '${SLIPWAY_VERSION}', 1, ''`)
  const [webhook = ''] = await insert('webhooks', 'url, events, secret_sealed, updated_at', `'', '{}', '', now()`)
  const delivery = 'webhook_id, message_id, event, payload, expires_at'
  await insert('webhook_deliveries', delivery, `'${webhook}', gen_random_uuid(), 'target.created', '{}', now()`)
  const targets = await insert('targets', `connection, ${named}`, `'{"type": "simulated"}', name, now()`)
  const [target = ''] = targets
  await gateway.database.query(`INSERT INTO target_tags (target_id, key, value) SELECT id, name, name FROM targets`)
  ids = {
    ...{ target, webhook, action: await insertSource('action') },
    ...{ sequence: await insertSource('sequence'), solution: await insertSource('solution') },
  }
  for (const name of NAMES) {
    // With audit records.
    expect((await admin.send('createTenant', '/tenants', { name })).status).toBe(201)
    await request(gateway.app)
      .post('/api/v1/content')
      .set({ Authorization: `Bearer ${gateway.adminToken}`, 'content-type': 'application/octet-stream' })
      .send(Buffer.from(name))
    const source = { source_name: name, source_type: 'solution' as const }
    const deployment = await addDeployment(gateway.database, { ...source, target_ids: targets.slice(0, 2) })
    await execute(gateway.database, deployment, 'completed')
  }
  for (const [table, column] of [
    ...[['contents', 'uploaded_at'] as const, ['releases', 'begun_at'] as const],
    ...[['deployments', 'created_at'] as const, ['tenants', 'created_at'] as const],
  ]) {
    await gateway.database.query(`UPDATE ${table} SET ${column} = date_trunc('hour', ${column})`)
  }
})
afterAll(() => gateway.close())

const pathOf = (path: string) => {
  const kind = /^\/(target|action|sequence|solution|webhook)s\//.exec(path)?.[1]
  return kind === undefined ? path : path.replace('{id}', ids[kind as keyof typeof ids])
}

const LISTS = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([, { query }]) => query !== undefined && 'cursor' in query.properties,
)

interface Page {
  data: unknown[]
  meta: { next_cursor: string | null }
}

describe('the pages of a walk are the whole list in its order', () => {
  test.each(LISTS.map(([id, { path }]) => [id, path] as const))('%s', async (id, template) => {
    const path = pathOf(template)
    const whole = (await admin.send(id, `${path}?limit=100`)).body
    expect(whole.data.length).toBeGreaterThanOrEqual(NAMES.length)
    expect(whole.meta).not.toHaveProperty('next_cursor')
    for (const limit of [2, whole.data.length]) {
      const walked: unknown[] = []
      let cursor: string | null = 'start'
      for (let page = 1; cursor !== null; page += 1) {
        const { data, meta }: Page = (await admin.send(id, `${path}?limit=${limit}&cursor=${cursor}`)).body
        expect(meta).toMatchObject({ page, limit, has_prev: page > 1, has_next: meta.next_cursor !== null })
        walked.push(...data)
        cursor = meta.next_cursor
      }
      expect(walked).toEqual(whole.data)
    }
  })
})

/** Each list with each order that it can have. */
const SORTS = LISTS.flatMap(([id, { path, query }]) => {
  const sorts: string[] = query?.properties['sort']?.['enum'] ?? []
  return sorts.map((sort) => [id, sort, path] as const)
})

describe('the pages of a sorted list are the whole list, and the reverse order is its reverse', () => {
  test.each(SORTS)('%s by %s', async (id, sort, template) => {
    const path = pathOf(template)
    const read = async (query: string): Promise<Page> => (await admin.send(id, `${path}?${query}`)).body
    const idsOf = ({ data }: Page) => data.map((entry) => (entry as { id: string }).id)
    const whole = idsOf(await read(`limit=100&sort=${sort}`))
    expect(whole.length).toBeGreaterThanOrEqual(NAMES.length)
    const pages = [await read(`limit=2&sort=${sort}`), await read(`limit=2&page=2&sort=${sort}`)]
    expect(pages.flatMap(idsOf)).toEqual(whole.slice(0, 4))
    const reverse = sort.startsWith('-') ? sort.slice(1) : `-${sort}`
    // Environments without a position come last in both orders.
    if (!sort.endsWith('position')) expect(idsOf(await read(`limit=100&sort=${reverse}`)).reverse()).toEqual(whole)
  })
})

test('an unknown column is refused with those that are possible, and a cursor goes through the own order alone', async () => {
  const errorOf = async (query: string) => refusal(await admin.send('listTenants', `/tenants?${query}`))
  expect(await errorOf('sort=colour')).toMatchObject({
    status: 400,
    details: { errors: [{ path: 'query/sort', message: 'must be one of: name, -name, created_at, -created_at' }] },
  })
  expect(await errorOf('sort=name&cursor=start')).toMatchObject({
    status: 400,
    details: { errors: [{ path: 'query/cursor' }] },
  })
  const own = await admin.send('listTenants', '/tenants?sort=-created_at&cursor=start')
  expect(own.status).toBe(200)
})

test('ids leave the records that they name', async () => {
  for (const [id, path] of [
    ['listTargets', '/targets'],
    ['listActions', '/actions'],
    ['listEnvironments', '/environments'],
    ['listTenants', '/tenants'],
    ['listUsers', '/admin/users'],
  ] as const) {
    const [first, second] = (await admin.send(id, path)).body.data as { id: string; sqid?: string }[]
    const asked = [first?.sqid ?? first?.id, second?.id.toUpperCase(), UNKNOWN_ID, 'nothing'].join(',')
    const found = (await admin.send(id, `${path}?ids=${asked}`)).body
    const names = found.data.map((record: { id: string }) => record.id)
    expect({ id, total: found.meta.total, names: names.sort() }).toEqual({
      id,
      total: 2,
      names: [first?.id, second?.id].sort(),
    })
  }
  const tooMany = await admin.send('listTargets', `/targets?ids=${Array(101).fill(UNKNOWN_ID).join(',')}`)
  expect(refusal(tooMany)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
})

test('a walk skips nothing and repeats nothing while records are deleted and created', async () => {
  const read = async (cursor: string) =>
    (await admin.send('listTargets', `/targets?limit=2&cursor=${cursor}`)).body as {
      data: { id: string; name: string }[]
      meta: { next_cursor: string }
    }
  const before = (await admin.send('listTargets', '/targets')).body.data.map(({ id }: { id: string }) => id)
  const first = await read('start')
  for (const { id } of first.data) await admin.send('deleteTarget', `/targets/${id}`)
  await admin.send('createTarget', '/targets', { name: 'new', connection: { type: 'simulated' } })
  const second = await read(first.meta.next_cursor)
  expect(second.meta.next_cursor).toBeNull()
  expect([first, second].flatMap(({ data }) => data.map(({ id }) => id))).toEqual(before)
})

test('a wrong cursor, one of another list and one beside a page are refused', async () => {
  const { next_cursor } = (await admin.send('listTenants', '/tenants?limit=1&cursor=start')).body.meta
  for (const query of ['cursor=', 'cursor=%25', 'cursor=abc', `cursor=${next_cursor}`, 'cursor=start&page=1']) {
    expect(refusal(await admin.send('listTargets', `/targets?${query}`))).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      details: { errors: [{ path: 'query/cursor' }] },
    })
  }
})

test('an id that can name no record leaves an empty walk', async () => {
  const path = `/deployments?cursor=start&target_id=${UNKNOWN_ID}`
  expect((await admin.send('listDeployments', path)).body).toMatchObject({ data: [], meta: { next_cursor: null } })
})
