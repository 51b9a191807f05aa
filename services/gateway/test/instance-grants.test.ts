import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hashToken, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { joinTokenCommand } from '../src/administration/join-token-command.ts'
import { addTenant, addUser, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client
let tenant: { id: string; admin: Client }

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = await addTenant(gateway, 'A')
})
afterAll(() => gateway.close())

const create = (body: object = {}) => admin.send('createInstanceGrant', '/instances/grants', body)
const rowOf = async (id: string) =>
  (await gateway.database.query('SELECT * FROM instance_grants WHERE id = $1', [id])).rows[0]
const auditOf = async (id: string) =>
  (
    await gateway.database.query<{ action: string; tenant_id: string | null; details: Record<string, unknown> }>(
      'SELECT action, tenant_id, details FROM audit_records WHERE resource_id = $1 ORDER BY number',
      [id],
    )
  ).rows

describe('a grant', () => {
  test('is for one instance within an hour unless the request says otherwise', async () => {
    const { status, body } = await create()
    expect([status, body]).toMatchObject([
      201,
      { status: 'active', uses: 1, used: 0, labels: {}, tenant_id: null, token: expect.stringContaining(body.id) },
    ])
    const seconds = (Date.parse(body.expires_at) - Date.now()) / 1_000
    expect(seconds).toBeGreaterThan(3_500)
    expect(seconds).toBeLessThan(3_700)
  })

  test('shows its token once and is stored as a hash', async () => {
    const { body } = await create({ uses: 3, expires_in_seconds: 60, labels: { pool: 'eu', zone: null } })
    const { token, ...grant } = body
    const stored = JSON.stringify(await rowOf(grant.id))
    expect(stored).toContain(hashToken(token))
    expect(stored).not.toContain(token.split('.')[1])
    expect((await admin.send('getInstanceGrant', `/instances/grants/${grant.id}`)).body).toEqual(grant)
    const list = (await admin.send('listInstanceGrants', '/instances/grants')).body
    expect(list.data[0]).toEqual(grant)
    const audit = await auditOf(grant.id)
    expect(audit).toMatchObject([
      { action: 'instance_grant.create', tenant_id: null, details: { uses: 3, labels: { pool: 'eu', zone: null } } },
    ])
    expect(JSON.stringify(audit)).not.toContain(token.split('.')[1])
  })

  test('can be limited to instances of one tenant', async () => {
    const { body } = await create({ tenant_id: tenant.id })
    expect(body.tenant_id).toBe(tenant.id)
    expect(refusal(await create({ tenant_id: '00000000-0000-4000-8000-000000000000' }))).toMatchObject({
      status: 404,
      details: { missing: [{ path: '/tenant_id' }] },
    })
  })

  test('is deleted when it is revoked, and the audit record contains how often it was used', async () => {
    const { id } = (await create({ uses: 5 })).body
    await gateway.database.query('UPDATE instance_grants SET used = 2 WHERE id = $1', [id])
    expect((await admin.send('revokeInstanceGrant', `/instances/grants/${id}`)).status).toBe(204)
    expect(await rowOf(id)).toBeUndefined()
    for (const operation of ['getInstanceGrant', 'revokeInstanceGrant'] as const) {
      expect(refusal(await admin.send(operation, `/instances/grants/${id}`))).toEqual(refused(404, 'NOT_FOUND'))
    }
    expect((await auditOf(id))[1]).toMatchObject({ action: 'instance_grant.delete', details: { uses: 5, used: 2 } })
  })

  test('has a status that says whether an instance can join with it', async () => {
    const ids = { active: '', used_up: '', expired: '' }
    for (const status of Object.keys(ids) as (keyof typeof ids)[]) ids[status] = (await create()).body.id
    await gateway.database.query('UPDATE instance_grants SET used = 1 WHERE id = $1', [ids.used_up])
    await gateway.database.query('UPDATE instance_grants SET expires_at = now() WHERE id = $1', [ids.expired])
    for (const [status, id] of Object.entries(ids)) {
      expect((await admin.send('getInstanceGrant', `/instances/grants/${id}`)).body.status).toBe(status)
    }
  })

  test('is deleted a month after its end when another grant is created', async () => {
    const [old, recent] = [(await create()).body.id, (await create()).body.id]
    await gateway.database.query(
      `UPDATE instance_grants SET expires_at = now() - CASE WHEN id = $1 THEN interval '31 days' ELSE interval '1 day' END
        WHERE id = ANY($2)`,
      [old, [old, recent]],
    )
    await create()
    expect([await rowOf(old), await rowOf(recent)]).toMatchObject([undefined, { id: recent }])
  })

  test('is deleted with its tenant', async () => {
    const other = (await admin.send('createTenant', '/tenants', { name: 'ends' })).body.id
    const { id } = (await create({ tenant_id: other })).body
    expect((await admin.send('deleteTenant', `/tenants/${other}`)).status).toBe(204)
    expect(await rowOf(id)).toBeUndefined()
  })
})

test.each<[string, object, string[]]>([
  ['no uses', { uses: 0 }, ['/uses']],
  ['too many uses', { uses: 1_001 }, ['/uses']],
  ['a lifetime below a minute', { expires_in_seconds: 59 }, ['/expires_in_seconds']],
  ['more than a week', { expires_in_seconds: 604_801 }, ['/expires_in_seconds']],
  ['a label that no instance can have', { labels: { 'a=b': 'c' } }, ['/labels/a=b']],
  ['a value that no instance can have', { labels: { a: 'b,c=d' } }, ['/labels/a']],
  ['a field that is not known', { token: 'mine' }, ['/token']],
])('%s is refused', async (_what, body, paths) => {
  const response = await create(body)
  const errors = paths.map((at) => expect.objectContaining({ path: at }))
  expect(refusal(response)).toEqual(refused(400, 'VALIDATION_ERROR', { errors }))
})

test('callers of a tenant or without the permission cannot see, create or revoke grants', async () => {
  const { id } = (await create({ tenant_id: tenant.id })).body
  const operator = clientOf(gateway, (await addUser(gateway, { role: 'operator' })).token)
  const calls = [
    [tenant.admin, 'createInstanceGrant', '/instances/grants'],
    [tenant.admin, 'listInstanceGrants', '/instances/grants'],
    [tenant.admin, 'getInstanceGrant', `/instances/grants/${id}`],
    [tenant.admin, 'revokeInstanceGrant', `/instances/grants/${id}`],
    [operator, 'createInstanceGrant', '/instances/grants'],
    [operator, 'revokeInstanceGrant', `/instances/grants/${id}`],
  ] as const
  for (const [client, operation, at] of calls) {
    expect([operation, refusal(await client.send(operation, at))]).toEqual([
      operation,
      refused(403, 'INSUFFICIENT_PERMISSIONS'),
    ])
  }
  expect(await rowOf(id)).toMatchObject({ used: 0 })
})

test('users of a tenant see shared instances and instances of their own tenant only', async () => {
  const other = await addTenant(gateway, 'B')
  const ids = { shared: '', own: '', other: '' }
  for (const [name, tenant_id] of [
    ['shared', null],
    ['own', tenant.id],
    ['other', other.id],
  ] as const) {
    const { rows } = await gateway.database.query<{ id: string }>(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, tenant_id)
       VALUES (gen_random_uuid(), $1, '${SLIPWAY_VERSION}', 1, '', $2) RETURNING id`,
      [name, tenant_id],
    )
    ids[name] = rows[0]?.id ?? ''
  }
  const namesFor = async (client: Client) => {
    const { body } = await client.send('listInstances', '/admin/instances')
    expect(body.meta.total).toBe(body.data.length)
    return body.data.map(({ name }: { name: string }) => name).sort()
  }
  expect(await namesFor(tenant.admin)).toEqual(['own', 'shared'])
  expect(await namesFor(admin)).toEqual(['other', 'own', 'shared'])
  const hidden = await tenant.admin.send('getInstance', `/admin/instances/${ids.other}`)
  expect(refusal(hidden)).toEqual(refused(404, 'NOT_FOUND'))
  expect((await tenant.admin.send('getInstance', `/admin/instances/${ids.own}`)).body.tenant_id).toBe(tenant.id)
  // A tenant with an instance is in use.
  const deleted = await admin.send('deleteTenant', `/tenants/${other.id}`)
  expect(refusal(deleted)).toMatchObject({ status: 409, code: 'CONFLICT' })
})

test('instances are found by name with the documented fields, and only administrators without tenant change them', async () => {
  const id = uuidv7()
  await gateway.database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
     VALUES ($1, 'Found', '${SLIPWAY_VERSION}', 2, '', now())`,
    [id],
  )
  const { body } = await admin.send('listInstances', '/admin/instances?search=fOUN')
  const found = {
    ...{ id, name: 'Found', version: SLIPWAY_VERSION, status: 'online', capacity: 2, active: 0, draining: false },
    ...{ labels: {}, allowed_labels: {}, tenant_id: null },
    ...{ last_heartbeat_at: expect.stringMatching(/Z$/), created_at: expect.stringMatching(/Z$/) },
  }
  expect(body.data).toEqual([found])
  expect((await admin.send('getInstance', `/admin/instances/${id}`)).body).toEqual(found)
  const forbidden = refused(403, 'INSUFFICIENT_PERMISSIONS')
  const operator = clientOf(gateway, (await addUser(gateway, { role: 'operator' })).token)
  for (const other of [tenant.admin, operator]) {
    expect((await other.send('getInstance', `/admin/instances/${id}`)).status).toBe(200)
    const change = await other.send('updateInstance', `/admin/instances/${id}`, { draining: true })
    expect(refusal(change)).toMatchObject(forbidden)
    expect(refusal(await other.send('deleteInstance', `/admin/instances/${id}`))).toMatchObject(forbidden)
  }
  for (const unknown of [uuidv7(), 'Found']) {
    expect((await admin.send('getInstance', `/admin/instances/${unknown}`)).status).toBe(404)
  }
  const wrong = await admin.send('updateInstance', `/admin/instances/${id}`, { drained: true, labels: { '': 'x' } })
  expect(wrong.body.error.details.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    '/drained',
    '/labels/',
  ])
})

describe('the join-token command', () => {
  const databaseUrl = () => gateway.dependencies.database.pool.options.connectionString ?? ''
  const call = async (...args: string[]) => {
    let printed = ''
    const print = (text: string) => {
      printed += text
    }
    await joinTokenCommand(args, { databaseUrl, print })
    return printed
  }

  test('prints a token and leaves an audit record', async () => {
    const stdout = await call('--uses', '2', '--label', 'pool=eu', '--label', 'zone')
    const [id = ''] = stdout.split('.')
    expect(await rowOf(id)).toMatchObject({
      token_hash: hashToken(stdout.trim()),
      uses: 2,
      labels: { pool: 'eu', zone: null },
      created_by: null,
    })
    expect(await auditOf(id)).toMatchObject([{ action: 'instance_grant.create' }])
  })

  test('writes a token into a file that only its owner can read', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'slipway-join-'))
    try {
      const file = path.join(folder, 'token')
      expect(await call('--file', file)).toBe('')
      expect(await rowOf(readFileSync(file, 'utf8').split('.')[0] ?? '')).toMatchObject({ uses: 1 })
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('refuses what the API refuses', async () => {
    await expect(call('--uses', '0')).rejects.toThrow('uses must be')
  })
})
