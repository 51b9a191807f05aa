import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation } from '@slipway/contracts'
import { type AuditEntry, linkAudit, recordAudit } from '@slipway/database/audit'
import { uuidv7 } from '@slipway/runtime'
import { createRefusalLog } from '../src/audit-trail.ts'
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
const actor = uuidv7()
const apiKey = uuidv7()

const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString()

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  ;({ id: tenantA, admin: ofA } = await addTenant(gateway, 'A'))
  const { id: tenantB } = await addTenant(gateway, 'B')
  // Sixty old records, one second apart. A third belongs to each tenant, a third to none. Every fifth has an API key.
  await gateway.database.query(
    `INSERT INTO audit_records (id, at, actor_id, actor_name, actor_ip, action, resource_type, resource_id, tenant_id, details)
     SELECT gen_random_uuid(), '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => n), $1, 'ada', '192.0.2.7',
            CASE WHEN n % 2 = 0 THEN 'target.create' ELSE 'deployment.cancel' END,
            CASE WHEN n % 2 = 0 THEN 'target' ELSE 'deployment' END, 'r-' || n % 10,
            CASE n % 3 WHEN 0 THEN $2::uuid WHEN 1 THEN $3::uuid END, 
            jsonb_build_object('n', n) || CASE WHEN n % 5 = 0
              THEN jsonb_build_object('api_key', jsonb_build_object('id', $4::text, 'name', 'pipeline')) ELSE '{}' END
       FROM generate_series(0, 59) n`,
    [actor, tenantA, tenantB, apiKey],
  )
})
afterAll(() => gateway.close())

async function list(query: string, client = admin) {
  const { status, body } = await client.send('listAuditLogs', `/audit/logs?${query}`)
  expect(status).toBe(200)
  return { meta: body.meta, numbers: body.data.map(({ details }: { details: { n: number } }) => details.n) as number[] }
}
const down = (...numbers: number[]) => numbers.sort((a, b) => b - a)
const upTo60 = (fits: (n: number) => boolean) => down(...Array.from({ length: 60 }, (_, n) => n).filter(fits))
const ours = `actor_id=${actor}&limit=100`

describe('the list', () => {
  test('shows every field, newest first', async () => {
    const { body } = await admin.send('listAuditLogs', `/audit/logs?actor_id=${actor}&limit=1`)
    expect(body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          at: '2026-01-01T00:00:59.000Z',
          actor_id: actor,
          actor_name: 'ada',
          actor_ip: '192.0.2.7',
          api_key_id: null,
          api_key_name: null,
          action: 'deployment.cancel',
          resource_type: 'deployment',
          resource_id: 'r-9',
          tenant_id: null,
          request_id: null,
          details: { n: 59 },
        },
      ],
      meta: { total: 60, page: 1, limit: 1, total_pages: 60, has_next: true, has_prev: false },
    })
  })

  test('is filtered by each field and by all fields together', async () => {
    expect((await list(`${ours}&action=target.create`)).numbers).toEqual(upTo60((n) => n % 2 === 0))
    expect((await list(`${ours}&exclude_action=target.create,auth.refresh`)).numbers).toEqual(
      upTo60((n) => n % 2 === 1),
    )
    expect((await list(`${ours}&exclude_action=target.create,deployment.cancel`)).meta.total).toBe(0)
    expect((await list(`${ours}&resource_type=deployment`)).numbers).toEqual(upTo60((n) => n % 2 === 1))
    expect((await list(`${ours}&resource_id=r-3`)).numbers).toEqual(upTo60((n) => n % 10 === 3))
    expect((await list(`actor_id=${uuidv7()}`)).meta.total).toBe(0)
    expect((await list(`${ours}&api_key_id=${apiKey.toUpperCase()}`)).numbers).toEqual(upTo60((n) => n % 5 === 0))
    expect((await list(`api_key_id=${uuidv7()}`)).meta.total).toBe(0)
    expect((await list(`${ours}&from=${at(10)}&to=${at(13)}`)).numbers).toEqual([12, 11, 10])
    expect((await list(`${ours}&from=2026-01-01T01:00:58%2B01:00`)).numbers).toEqual([59, 58])
    const all = `${ours}&action=target.create&resource_type=target&resource_id=r-4&from=${at(5)}&to=${at(40)}`
    expect((await list(all)).numbers).toEqual([34, 24, 14])
  })

  test('is the same from either end, page by page', async () => {
    const pages: number[] = []
    for (let page = 1; page <= 9; page += 1)
      pages.push(...(await list(`actor_id=${actor}&limit=7&page=${page}`)).numbers)
    expect(pages).toEqual(upTo60(() => true))
    expect(await list(`actor_id=${actor}&limit=7&page=10`)).toMatchObject({
      numbers: [],
      meta: { total: 60, page: 10 },
    })
  })

  test('counts all records without a filter, linked or not', async () => {
    const count = async () =>
      (await gateway.database.query<{ n: number }>('SELECT count(*)::int AS n FROM audit_records')).rows[0]?.n
    expect((await list('')).meta.total).toBe(await count())
    await linkAudit(gateway.asGateway, { late: true })
    expect((await list('')).meta.total).toBe(await count())
    await admin.send('createTenant', '/tenants', { name: `t-${uuidv7()}` })
    expect((await list('')).meta.total).toBe(await count())
    const last = await list(`limit=5&page=${Math.ceil(Number(await count()) / 5)}`)
    expect(last.numbers).not.toEqual([])
  })

  test('shows callers of a tenant only the records of that tenant', async () => {
    expect((await list(ours, ofA)).numbers).toEqual(upTo60((n) => n % 3 === 0))
    expect((await list(`${ours}&resource_id=r-1`, ofA)).numbers).toEqual(upTo60((n) => n % 3 === 0 && n % 10 === 1))
    const { body } = await ofA.send('listAuditLogs', '/audit/logs?limit=100')
    expect(new Set(body.data.map((record: { tenant_id: string }) => record.tenant_id))).toEqual(new Set([tenantA]))
    expect(body.meta.total).toBe(body.data.length)
  })

  test('needs the permission to read audit records', async () => {
    for (const role of ['operator', 'user'] as const) {
      const client = clientOf(gateway, (await addUser(gateway, { role })).token)
      const response = await client.send('listAuditLogs', '/audit/logs')
      expect(refusal(response)).toMatchObject(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    }
  })

  test.each([
    ['search=x', 'query/search'],
    ['action=target.paint', 'query/action'],
    ['resource_type=deployments', 'query/resource_type'],
    ['actor_id=ada', 'query/actor_id'],
    ['api_key_id=pipeline', 'query/api_key_id'],
    ['from=yesterday', 'query/from'],
    ['to=2026-06-30T23:59:60Z', 'query/to'],
    ['from=', 'query/from'],
    [`resource_id=${'x'.repeat(129)}`, 'query/resource_id'],
    ['resource_id=%00', 'query/resource_id'],
  ])('refuses %s', async (query, path) => {
    const response = await admin.send('listAuditLogs', `/audit/logs?${query}`)
    expect(refusal(response)).toEqual(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path, message: expect.any(String) }] }),
    )
  })

  test('accepts the earliest and the latest time', async () => {
    expect((await list(`${ours}&from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z`)).meta.total).toBe(60)
  })

  test('knows every action in its filter', () => {
    const actions = Object.values(OPERATIONS as Record<string, Operation>).flatMap(({ audit }) => audit ?? [])
    actions.push('deployment.preview', 'instance.join', 'pending_request.supersede')
    const { query } = OPERATIONS.listAuditLogs as Operation
    expect(query?.properties['action']).toMatchObject({ enum: [...new Set(actions)].sort() })
    for (const action of actions) expect(action).toMatch(/^[a-z_]+\.[a-z0-9_]+$/)
  })
})

describe('the chain', () => {
  test('is verified part by part, and a changed record is found', async () => {
    await linkAudit(gateway.asGateway, { late: true })
    const check = async (query = '') => (await admin.send('checkAuditChain', `/audit/chain${query}`)).body
    const whole = await check()
    expect(whole).toMatchObject({ broken: 0, findings: [], next: null, head: { position: whole.links } })
    expect(await check(`?after=${whole.head.position - 5}`)).toMatchObject({ links: 5, broken: 0, next: null })
    const change = (name: string) =>
      gateway.database.transaction(async (tx) => {
        await tx.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
        await tx.query(`UPDATE audit_records SET actor_name = $1 WHERE details ->> 'n' = '7'`, [name])
        await tx.query('ALTER TABLE audit_records ENABLE TRIGGER USER')
      })
    await change('eve')
    expect(await check('?after=0')).toMatchObject({
      broken: 1,
      findings: [{ problem: expect.stringContaining('changed') }],
    })
    await change('ada')
    expect(await check('?after=0')).toMatchObject({ broken: 0 })
  })

  test('covers all tenants, so callers of a tenant may not verify it', async () => {
    expect(refusal(await ofA.send('checkAuditChain', '/audit/chain'))).toEqual(refused(403, 'FORBIDDEN'))
    expect((await admin.send('checkAuditChain', '/audit/chain?after=-1')).status).toBe(400)
  })
})

test('a record names the API key that acted, also after the key is deleted', async () => {
  const made = await admin.send('createApiKey', '/auth/api-keys', { name: 'pipeline', scopes: ['targets:read'] })
  const { id, name } = made.body.api_key
  const refusedCall = await clientOf(gateway, made.body.full_key).send('createTenant', '/tenants', { name: 'x' })
  expect(refusal(refusedCall)).toMatchObject(refused(403, 'INSUFFICIENT_PERMISSIONS'))
  await admin.send('deleteApiKey', `/auth/api-keys/${id}`)
  const { body } = await admin.send('listAuditLogs', `/audit/logs?api_key_id=${id}`)
  expect(body.data).toEqual([
    expect.objectContaining({
      ...{ action: 'tenant.create', actor_name: 'admin', api_key_id: id, api_key_name: name },
      details: { outcome: 'refused', status: 403, code: 'INSUFFICIENT_PERMISSIONS' },
    }),
  ])
  const { rows } = await gateway.database.query('SELECT FROM audit_records WHERE details::text LIKE $1', [
    `%${made.body.full_key.slice(0, 12)}%`,
  ])
  expect(rows).toEqual([])
})

describe('refusals', () => {
  const recordsOf = async (requestId: string) =>
    (
      await gateway.database.query<{ resource_id: string | null; tenant_id: string | null; details: object }>(
        'SELECT resource_id, tenant_id, details FROM audit_records WHERE request_id = $1',
        [requestId],
      )
    ).rows

  test('keep an id of the path only if it has the form of an id', async () => {
    for (const [id, kept] of [
      [UNKNOWN_ID, UNKNOWN_ID],
      ['%00', null],
      ['a%20b', null],
      ['x'.repeat(200), null],
    ] as const) {
      const response = await admin.send('cancelPending', `/deployments/pending/${id}`)
      expect(response.status).toBe(404)
      expect(await recordsOf(response.headers['x-request-id'] ?? '')).toMatchObject([{ resource_id: kept }])
    }
  })

  test('leave one record if the transaction of the change is rolled back', async () => {
    const name = `t-${uuidv7()}`
    await admin.send('createTenant', '/tenants', { name })
    const response = await admin.send('createTenant', '/tenants', { name })
    expect(await recordsOf(response.headers['x-request-id'] ?? '')).toMatchObject([
      { details: { outcome: 'refused', status: 409, code: 'CONFLICT' } },
    ])
  })

  test('are all stored during a burst, over one connection', async () => {
    let open = 0
    let most = 0
    const counting = {
      async query(text: string, values?: unknown[]) {
        open += 1
        most = Math.max(most, open)
        try {
          return await gateway.database.query(text, values)
        } finally {
          open -= 1
        }
      },
    } as Pick<typeof gateway.database, 'query'>
    const log = createRefusalLog(counting, gateway.dependencies.logger)
    const resource_id = uuidv7()
    const entry = (): AuditEntry => ({
      actor_id: null,
      actor_name: null,
      actor_ip: '192.0.2.1',
      action: 'target.create',
      resource_type: 'target',
      resource_id,
      tenant_id: null,
      request_id: null,
      details: {},
    })
    await Promise.all(Array.from({ length: 1_000 }, () => log.write(entry())))
    expect(most).toBe(1)
    expect((await list(`resource_id=${resource_id}`)).meta.total).toBe(1_000)
  })

  test('are logged if they cannot be stored, and do not delay the call', async () => {
    const lines: unknown[] = []
    const logger = { ...gateway.dependencies.logger, error: (...line: unknown[]) => void lines.push(line) }
    const broken = {
      query: async () => {
        throw new Error('away')
      },
    }
    const log = createRefusalLog(broken, logger)
    const entry = { action: 'target.create', resource_id: 'x' } as AuditEntry
    await log.write(entry)
    expect(lines).toMatchObject([[expect.any(String), { audit: [entry] }]])
  })

  test('wait for a connection when the pool has none, as the refused call did', async () => {
    let calls = 0
    const busy = {
      query: async () => {
        calls += 1
        throw new Error('timeout exceeded when trying to connect')
      },
    }
    await createRefusalLog(busy, gateway.dependencies.logger).write({ action: 'target.create' } as AuditEntry)
    expect(calls).toBeGreaterThan(1)
  })
})

describe('a refused login', () => {
  const records = async (email: string) => {
    const anybody = clientOf(gateway, '')
    const { status } = await anybody.send('login', '/auth/login', { email, password: 'a wrong one' })
    expect(status).toBe(401)
    return (await admin.send('listAuditLogs', '/audit/logs?action=auth.login&limit=1')).body.data as AuditEntry[]
  }
  const outcome = { outcome: 'refused', status: 401, code: 'INVALID_CREDENTIALS' }

  test('names the account and is visible to the administrators of its tenant', async () => {
    const { id, email } = await addUser(gateway, { role: 'user', tenant_id: tenantA })
    expect(await records(` ${email.toUpperCase()} `)).toMatchObject([
      { resource_id: id, tenant_id: tenantA, actor_id: null, details: { ...outcome, email } },
    ])
    const seen = await ofA.send('listAuditLogs', `/audit/logs?resource_id=${id}`)
    expect(seen.body.data).toMatchObject([{ action: 'auth.login' }])
    expect(await records('Nobody@Example.com')).toMatchObject([
      { resource_id: null, tenant_id: null, details: { ...outcome, email: 'nobody@example.com' } },
    ])
  })

  test.each(['correct horse battery', 'p@ssw0rd', 'x@y', '<b>@example.com'])(
    'does not store a text that is no email address, because it may be a password: %s',
    async (text) => {
      expect((await records(text)).map(({ details }) => details)).toEqual([outcome])
    },
  )
})

test('either a command or its refusal is recorded, whichever is first', async () => {
  const log = createRefusalLog(gateway.dependencies.database, gateway.dependencies.logger)
  const entry = (id: string): AuditEntry => ({
    id,
    actor_id: null,
    actor_name: null,
    actor_ip: null,
    action: 'deployment.create',
    resource_type: 'deployment',
    resource_id: id,
    tenant_id: null,
    request_id: null,
    details: {},
  })
  const [first, second] = [uuidv7(), uuidv7()]
  expect(await log.claim(entry(first))).toBe(true)
  expect(await recordAudit(gateway.asGateway, [entry(first)])).toBe(0)
  const claim = await gateway.database.transaction(async (tx) => {
    await recordAudit(tx, [entry(second)])
    return { ended: log.claim(entry(second)) }
  })
  expect(await claim.ended).toBe(false)
})
