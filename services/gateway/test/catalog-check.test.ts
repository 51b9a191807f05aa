// A check makes changes of the catalog in a transaction that is rolled back.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { LOCK_KEYS } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { addTenant, addUser, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client

beforeAll(async () => {
  gateway = await startGateway({
    freezesPerTenant: 2,
    contentLimits: { tenantBytes: 100, totalBytes: 0 },
    // A busy machine may take long for the first use of Prisma.
    answerTimes: { effectMs: 60_000, answerMs: 60_000, lastMs: 60_000, heldMs: 60_000 },
  })
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

const check = async (changes: object[], client = admin) => {
  const response = await client.send('checkCatalog', '/catalog/check', { changes })
  expect(response.status).toBe(200)
  return response.body.results as { error: null | Record<string, unknown>; warnings: string[] }[]
}
const errorsOf = async (changes: object[], client = admin) =>
  (await check(changes, client)).map(({ error }) => error && [error['status'], error['details'] ?? error['message']])
const at = (path: string, message: unknown) => [400, { errors: [{ path, message }] }]

const create = (kind: string, body: object, id = uuidv7()) => ({ what: 'create', kind, id, body })
const script = (text = 'true', more: object = {}) => ({ type: 'script', script: text, ...more })
const action = (name: string, id?: string, more: object = {}) =>
  create('action', { name, version: '1.0.0', definition: script(), ...more }, id)
const sequence = (name: string, action_id: string, version_requirement?: string, id?: string) =>
  create('sequence', { name, version: '1.0.0', definition: { actions: [{ action_id, version_requirement }] } }, id)

test('new records may refer to each other, and nothing stays', async () => {
  const rows = async () => {
    const tables = ['tenants', 'environments', 'sources', 'targets', 'freezes', 'outbox', 'audit_records', 'contents']
    const counts = tables.map((table) => gateway.database.query(`SELECT count(*) FROM ${table}`))
    return (await Promise.all(counts)).map((result) => result.rows[0])
  }
  const before = await rows()
  const [tenant, environment, part, whole] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()]
  const content = createHash('sha256').update('bytes').digest('hex')
  const files = [{ content, path: 'app.conf' }]
  const results = await errorsOf([
    { what: 'upload', id: content, size: 5 },
    create('tenant', { name: 'New' }, tenant),
    create('environment', { name: 'production', tenant_id: tenant }, environment),
    action('part', part, { tenant_id: tenant, definition: script('true', { files }) }),
    create(
      'sequence',
      {
        ...sequence('whole', part, '^1.0.0').body,
        tenant_id: tenant,
      },
      whole,
    ),
    create('solution', {
      name: 'shop',
      version: '1.0.0',
      tenant_id: tenant,
      definition: { sequences: [{ sequence_id: whole }] },
    }),
    create('target', {
      name: 'web',
      tenant_id: tenant,
      environment_id: environment,
      connection: { type: 'simulated' },
    }),
    { what: 'delete', kind: 'environment', id: environment },
  ])
  expect(results).toEqual([...Array(7).fill(null), [409, 'The environment is in use by a target']])
  expect(await rows()).toEqual(before)
})

test('all problems come at once, each of its change, and what refers to a refused record is checked too', async () => {
  const [broken, refusedScript] = [uuidv7(), uuidv7()]
  const variables = [{ name: 'who' }]
  expect(
    await errorsOf([
      create('target', { name: 'wrong', connection: { type: 'simulated' }, enabled: 'yes' }),
      create('environment', { name: 'unknown', colour: 'red' }),
      action('no version', broken, { version: 'one' }),
      action('evaluated', refusedScript, { definition: script('eval "{{ who }}"', { variables }) }),
      sequence('refers to nothing', uuidv7()),
      sequence('refers to a refused one', broken, '^7.0.0'),
      sequence('refers to another', refusedScript, '^2.0.0'),
      action('twice'),
      action('twice'),
      { what: 'delete', kind: 'target', id: uuidv7() },
    ]),
  ).toEqual([
    at('/enabled', expect.any(String)),
    at('/colour', expect.any(String)),
    at('/version', expect.any(String)),
    at('/definition/script', expect.stringContaining('line 1, column 7')),
    [404, { missing: [{ path: '/definition/actions/0/action_id', id: expect.any(String) }] }],
    null,
    at('/definition/actions/0/version_requirement', expect.stringContaining('"evaluated" satisfies ^2.0.0')),
    null,
    [409, { errors: [{ path: '/name', message: expect.stringContaining('named "twice"') }] }],
    [404, 'The target was not found'],
  ])
})

test('a requirement is satisfied by a version that the same check publishes, and refused by the write too', async () => {
  const created = await admin.send('createAction', '/actions', action('released').body)
  const { id } = created.body
  const publish = { what: 'publish', kind: 'action', id, body: { version: '2.0.0', definition: script() } }
  expect(await errorsOf([publish, sequence('needs two', id, '^2.0.0')])).toEqual([null, null])
  expect(await errorsOf([{ ...publish, body: { version: '2.0.0' } }, sequence('needs two', id, '^2.0.0')])).toEqual([
    [400, { fields: ['definition'] }],
    null,
  ])
  const write = await admin.send('createSequence', '/sequences', sequence('needs two', id, '^2.0.0').body)
  const message = 'no version of the action "released" satisfies ^2.0.0: published are 1.0.0'
  const errors = [{ path: '/definition/actions/0/version_requirement', message }]
  expect(refusal(write)).toEqual(refused(400, 'VALIDATION_ERROR', { errors }))
})

test('an assumed record satisfies every requirement', async () => {
  const id = uuidv7()
  expect(await errorsOf([{ what: 'assume', kind: 'action', id }, sequence('a', id, '^9.0.0')])).toEqual([null, null])
})

test('what stands in for a record has no name of a real one, and no number of a sequence', async () => {
  const lastNumber = async () => (await gateway.database.query('SELECT last_value FROM sources_number_seq')).rows
  const before = await lastNumber()
  const [broken, assumed] = [uuidv7(), uuidv7()]
  const publish = { what: 'publish', kind: 'action', id: assumed, body: { version: '3.0.0' } }
  expect(
    await errorsOf([
      action('free', broken, { version: 'one' }),
      { what: 'assume', kind: 'action', id: assumed },
      { what: 'change', kind: 'action', id: assumed, body: { description: 'text' } },
      publish,
    ]),
  ).toEqual([at('/version', expect.any(String)), null, null, [400, { fields: ['definition'] }]])
  expect(await lastNumber()).toEqual(before)
  const found = await errorsOf([action('free', broken, { version: 'one' }), action('free')])
  expect(found).toEqual([at('/version', expect.any(String)), null])
})

test('nothing stands in for what the caller may neither read nor write', async () => {
  const tenant = await addTenant(gateway, 'key of freezes')
  const { body: key } = await tenant.admin.send('createApiKey', '/auth/api-keys', {
    name: 'x',
    scopes: ['freezes:create'],
  })
  const [assumed, refused] = [uuidv7(), uuidv7()]
  const dates = { start_time: '2036-01-01T00:00:00Z', end_time: '2036-01-02T00:00:00Z' }
  const freeze = (environment_id: string) => create('freeze', { name: environment_id, environment_id, ...dates })
  const changes = [
    { what: 'assume', kind: 'environment', id: assumed },
    create('environment', { name: 'production' }, refused),
    freeze(assumed),
    freeze(refused),
  ]
  const found = await errorsOf(changes, clientOf(gateway, key.full_key))
  expect(found.map((error) => error?.[0])).toEqual([403, 403, 404, 404])
})

test('scripts are read only for those who may publish them', async () => {
  const { scripts } = gateway.dependencies
  let asked = 0
  gateway.dependencies.scripts = {
    of(tenant_id) {
      const reader = scripts.of(tenant_id)
      return {
        read: (...script) => {
          asked += 1
          return reader.read(...script)
        },
      }
    },
  }
  const { token } = await addUser(gateway, { role: 'user' })
  const user = clientOf(gateway, token)
  const [found, read] = [await errorsOf([action('unread')], user), asked]
  await errorsOf([action('read'), action('read too')])
  gateway.dependencies.scripts = scripts
  expect([found.map((error) => error?.[0]), read, asked]).toEqual([[403], 0, 1])
})

test('permissions, tenants and quotas count as in the real calls', async () => {
  const operator = clientOf(gateway, (await addUser(gateway, { role: 'operator' })).token)
  const freeze = (name: string) =>
    create('freeze', { name, start_time: '2036-01-01T00:00:00Z', end_time: '2036-01-02T00:00:00Z' })
  const local = create('target', { name: 'here', connection: { type: 'local' } })
  const hash = (n: number) => `${n}`.repeat(64)
  expect(
    (
      await errorsOf(
        [
          create('environment', { name: 'production' }),
          local,
          freeze('one'),
          freeze('two'),
          freeze('three'),
          { what: 'upload', id: hash(1), size: 60 },
          { what: 'upload', id: hash(2), size: 60 },
        ],
        operator,
      )
    ).map((error) => error?.[0] ?? null),
  ).toEqual([403, 403, null, null, 409, null, 413])

  const [one, other] = await Promise.all(['one', 'other'].map((name) => addTenant(gateway, `tenant ${name}`)))
  const theirs = await other?.admin.send('createEnvironment', '/environments', { name: 'theirs' })
  const id = theirs?.body.id as string
  const found = await errorsOf(
    [
      { what: 'change', kind: 'environment', id, body: { description: 'mine' } },
      { what: 'delete', kind: 'environment', id },
      create('target', { name: 'web', environment_id: id, connection: { type: 'simulated' } }),
      create('tenant', { name: 'another' }),
      create('environment', { name: 'theirs' }, id),
    ],
    one?.admin,
  )
  expect(found.map((error) => error?.[0] ?? null)).toEqual([404, 404, 404, 403, null])
})

test('a caller that may only read asks as if it might write what it reads, and others do not', async () => {
  const { body: shared } = await admin.send('createEnvironment', '/environments', { name: 'shared' })
  const tenant = await addTenant(gateway, 'readers')
  const changes = [
    create('environment', { name: 'production' }),
    create('target', { name: 'here', connection: { type: 'simulated' } }),
    { what: 'upload', id: '3'.repeat(64), size: 5 },
    { what: 'delete', kind: 'environment', id: shared.id },
    create('tenant', { name: 'another' }),
  ]
  const ask = async (role: 'user' | 'operator', assume_permissions?: boolean) => {
    const { token } = await addUser(gateway, { role, tenant_id: tenant.id })
    const body = { changes, ...(assume_permissions === undefined ? {} : { assume_permissions }) }
    const response = await clientOf(gateway, token).send('checkCatalog', '/catalog/check', body)
    const { results, assumed_permissions } = response.body
    return [
      assumed_permissions,
      results.map(({ error }: { error: { status: number } | null }) => error?.status ?? null),
    ]
  }
  expect(await ask('user')).toEqual([false, [403, 403, 403, 403, 403]])
  expect(await ask('user', true)).toEqual([true, [null, null, null, 403, 403]])
  expect(await ask('operator', true)).toEqual([false, [403, null, null, 403, 403]])
  const { token } = await addUser(gateway, { role: 'user', tenant_id: tenant.id })
  const write = await clientOf(gateway, token).send('createEnvironment', '/environments', { name: 'production' })
  expect(write.status).toBe(403)
})

test('a change with the state that was read is refused after another change', async () => {
  const { body: record } = await admin.send('createEnvironment', '/environments', { name: 'stage' })
  const path = `/environments/${record.id}` as const
  const change = (expected_updated_at: string) => ({
    what: 'change',
    kind: 'environment',
    id: record.id,
    body: { description: 'mine', expected_updated_at },
  })
  expect(await errorsOf([change(record.updated_at)])).toEqual([null])
  const { body: changed } = await admin.send('updateEnvironment', path, { description: 'theirs' })
  expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(record.updated_at))
  const conflict = { expected_updated_at: record.updated_at, updated_at: changed.updated_at }
  expect(await errorsOf([change(record.updated_at)])).toEqual([[409, conflict]])
  const refusedWrite = refused(409, 'CONFLICT', conflict)
  expect(refusal(await admin.send('updateEnvironment', path, change(record.updated_at).body))).toEqual(refusedWrite)
  const query = (time: string) => `${path}?expected_updated_at=${encodeURIComponent(time)}`
  expect(refusal(await admin.send('deleteEnvironment', query(record.updated_at)))).toEqual(refusedWrite)
  expect((await admin.send('deleteEnvironment', query(changed.updated_at))).status).toBe(204)
})

test('a new version counts as a change of its source, and two changes never have the same time', async () => {
  const { body: record } = await admin.send('createAction', '/actions', action('published').body)
  const path = `/actions/${record.id}/versions` as const
  const publish = (version: string, expected_updated_at: string) =>
    admin.send('createActionVersion', path, { version, definition: script(), expected_updated_at })
  const answers = await Promise.all([publish('1.1.0', record.updated_at), publish('1.2.0', record.updated_at)])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  const times = new Set([record.updated_at])
  for (let n = 0; n < 5; n += 1) {
    const { body } = await admin.send('updateAction', `/actions/${record.id}`, { description: `${n}` })
    times.add(body.updated_at)
  }
  expect(times.size).toBe(6)
})

test('a check keeps no write of others waiting for long, and waits for none for long', async () => {
  const deletion = { what: 'delete', kind: 'action', id: '' }
  const { body } = await admin.send('createAction', '/actions', action('locked').body)
  const changes = [{ ...deletion, id: body.id }]
  await gateway.database.transaction(async (tx) => {
    await tx.query(`SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.composition})`)
    await tx.query(`SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.freezes})`)
    await tx.query(`SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.contentQuota})`)
    const dates = { start_time: '2036-01-01T00:00:00Z', end_time: '2036-01-02T00:00:00Z' }
    const freeze = create('freeze', { name: 'unlocked', ...dates })
    const parts = [sequence('unlocked', body.id), { what: 'upload', id: '4'.repeat(64), size: 5 }]
    expect(await errorsOf([freeze, ...parts])).toEqual([null, null, null])
    await tx.query('SELECT FROM sources WHERE id = $1 FOR UPDATE', [body.id])
    expect((await admin.send('checkCatalog', '/catalog/check', { changes })).status).toBe(503)
  })
  expect(await errorsOf(changes)).toEqual([null])

  const times = gateway.dependencies.answerTimes
  const { heldMs } = times
  times.heldMs = -1
  const tooLong = await admin.send('checkCatalog', '/catalog/check', { changes })
  times.heldMs = heldMs
  expect([tooLong.status, tooLong.body.error?.message]).toEqual([503, expect.stringContaining('check fewer changes')])
})

test('the size of a check is limited', async () => {
  const id = uuidv7()
  const send = (changes: object[]) => admin.send('checkCatalog', '/catalog/check', { changes })
  expect(refusal(await send(Array(1_001).fill({ what: 'delete', kind: 'target', id }))).code).toBe('VALIDATION_ERROR')
  const nested = (levels: number) => [create('target', JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`))]
  expect(refusal(await send(nested(33)))).toEqual(refused(400, 'INVALID_BODY'))
  expect((await errorsOf(nested(32)))[0]?.[0]).toBe(400)
  const items = (count: number) => [create('target', Array(count).fill(1))]
  expect(refusal(await send(items(400_001)))).toEqual(refused(400, 'INVALID_BODY'))
  expect((await errorsOf(items(60_000)))[0]?.[0]).toBe(400)
  expect(refusal(await send([])).code).toBe('VALIDATION_ERROR')
  expect(refusal(await send([action('a', id), action('b', id)]))).toEqual(
    refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/changes/1/id', message: expect.any(String) }] }),
  )
})
