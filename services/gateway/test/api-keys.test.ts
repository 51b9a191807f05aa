import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { hashToken } from '@slipway/runtime'
import { sqlOf, testLogger, valuesOf, waitFor } from '@slipway/testing'
import request from 'supertest'
import type { AccessTokens } from '../src/credentials/access-token.ts'
import { createGateway } from '../src/gateway.ts'
import { isWellFormedApiKey, makeApiKey } from '../src/identity/api-key.ts'
import { createAuthenticate } from '../src/identity/authenticate.ts'
import { me, outcome } from './credentials.ts'
import { addUser, expectAnswer, refusal, refused, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let user: Awaited<ReturnType<typeof addUser>>

beforeAll(async () => {
  gateway = await startGateway()
})
beforeEach(async () => {
  user = await addUser(gateway, { role: 'operator' })
})
afterAll(() => gateway.close())

const create = (body: object, token = user.token) =>
  request(gateway.app).post('/api/v1/auth/api-keys').set('Authorization', `Bearer ${token}`).send(body)
const list = async (token = user.token) =>
  (await request(gateway.app).get('/api/v1/auth/api-keys').set('Authorization', `Bearer ${token}`)).body.api_keys
async function make(body: object = {}, token = user.token): Promise<{ id: string; key: string }> {
  const response = await create({ name: 'key', ...body }, token)
  expectAnswer('createApiKey', response)
  return { id: response.body.api_key.id, key: response.body.full_key }
}
const target = (name: string) => ({ name, connection: { type: 'simulated' } })

describe('creating a key', () => {
  test('shows the key once and stores its hash', async () => {
    const response = await create({
      name: 'pipeline',
      description: 'for the pipeline',
      expires_in_days: 30,
      scopes: ['targets:read', 'deployments:read', 'targets:read'],
    })
    expectAnswer('createApiKey', response)
    const { api_key, full_key } = response.body
    expect(full_key).toMatch(/^svc_[A-Za-z0-9_-]{43,}$/)
    expect(api_key).toMatchObject({
      name: 'pipeline',
      description: 'for the pipeline',
      scopes: ['deployments:read', 'targets:read'],
      last_used_at: null,
      last_used_ip: null,
    })
    expect(api_key.key_prefix).toBe(`${full_key.slice(0, 12)}…`)
    const days = (Date.parse(api_key.expires_at) - Date.parse(api_key.created_at)) / 86_400_000
    expect(Math.round(days)).toBe(30)
    expect(await list()).toEqual([api_key])
    const { rows } = await gateway.database.query('SELECT * FROM api_keys WHERE id = $1', [api_key.id])
    expect(rows[0]).toMatchObject({ key_hash: hashToken(full_key) })
    expect(JSON.stringify(rows)).not.toContain(full_key.slice(12))
  })

  test.each([
    [{ name: 'k', scopes: ['deployments:fly'] }, 'VALIDATION_ERROR'],
    [{ name: 'k', scopes: 'deployments:read' }, 'VALIDATION_ERROR'],
    [{ name: 'k', expires_in_days: 0 }, 'VALIDATION_ERROR'],
    [{ name: 'k', expires_in_days: 3_651 }, 'VALIDATION_ERROR'],
    [{ name: 'k', expires_in_days: 1.5 }, 'VALIDATION_ERROR'],
    [{ name: ' k', scopes: [] }, 'VALIDATION_ERROR'],
    [{ name: 'k', scope: [] }, 'VALIDATION_ERROR'],
    [{ scopes: [] }, 'MISSING_FIELD'],
  ])('%j is 400 %s', async (body, code) => {
    expect([(await create(body)).status, (await create(body)).body.error.code]).toEqual([400, code])
  })

  test('is 403 with a scope that the user lacks; 1 and 3650 days of expiry are allowed', async () => {
    expect(refusal(await create({ name: 'k', scopes: ['targets:read', 'users:read'] }))).toEqual(
      refused(403, 'INSUFFICIENT_PERMISSIONS'),
    )
    expect((await create({ name: 'k', expires_in_days: 1 })).status).toBe(201)
    expect((await create({ name: 'k', expires_in_days: 3_650 })).status).toBe(201)
  })

  test('is refused to API keys, as is every operation that could take over the account', async () => {
    const { key } = await make()
    const { key: admins } = await make({}, gateway.adminToken)
    const bodies: Partial<Record<OperationId, object>> = {
      createApiKey: { name: 'another' },
      logout: {},
      changePassword: { current_password: 'x', new_password: 'x'.repeat(12) },
      setUpTwoFactor: {},
      enableTwoFactor: { code: '123456' },
      disableTwoFactor: { code: '123456' },
    }
    for (const [id, body] of Object.entries(bodies)) {
      const { path } = OPERATIONS[id as OperationId] as Operation
      for (const each of [key, admins])
        expect(await outcome(gateway, each, 'post', path, body)).toEqual([403, 'FORBIDDEN'])
    }
    for (const token of [user.token, gateway.adminToken]) expect(await me(gateway, token)).toEqual([200, null])
    expect(await outcome(gateway, key, 'post', '/auth/sse-token')).toEqual([200, null])
  })
})

describe('a key', () => {
  test('has the permissions of its user, limited by its scopes', async () => {
    const { key: all } = await make()
    const { key: reads } = await make({ scopes: ['targets:read'] })
    expect(await outcome(gateway, all, 'post', '/targets', target('by-key'))).toEqual([201, null])
    expect(await outcome(gateway, reads, 'get', '/targets')).toEqual([200, null])
    expect(await outcome(gateway, reads, 'post', '/targets', target('not'))).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(await outcome(gateway, reads, 'get', '/deployments')).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    const current = await request(gateway.app).get('/api/v1/auth/me').set('Authorization', `Bearer ${reads}`)
    expectAnswer('getCurrentUser', current)
    expect(current.body).toMatchObject({ id: user.id, roles: ['operator'], permissions: ['targets:read'] })
    const { rows } = await gateway.database.query<{ id: string; name: string }>(
      'SELECT id, name FROM api_keys WHERE id = $1',
      [current.body.api_key_id],
    )
    expect(rows).toEqual([{ id: current.body.api_key_id, name: current.body.api_key_name }])
  })

  test('follows changed roles of its user at once', async () => {
    const { key } = await make({ scopes: ['targets:create', 'targets:read'] })
    await gateway.database.query(
      `UPDATE user_roles SET role_id = (SELECT id FROM roles WHERE name = 'user') WHERE user_id = $1`,
      [user.id],
    )
    expect(await outcome(gateway, key, 'post', '/targets', target('no'))).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(await outcome(gateway, key, 'get', '/targets')).toEqual([200, null])
    await gateway.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [user.id])
    expect(await outcome(gateway, key, 'get', '/targets')).toEqual([403, 'FORBIDDEN'])
  })

  test('works until it is deleted, and is refused with the next request on any replica', async () => {
    const replica = createGateway(gateway.dependencies)
    const { id, key } = await make()
    expect(await me(replica, key)).toEqual([200, null])
    expect(await outcome(gateway, user.token, 'delete', `/auth/api-keys/${id}`)).toEqual([200, null])
    expect(await me(replica, key)).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(await outcome(gateway, user.token, 'delete', `/auth/api-keys/${id}`)).toEqual([404, 'NOT_FOUND'])
  })

  test('is INVALID_CREDENTIALS if it has expired, is unknown or mistyped', async () => {
    const { id, key } = await make({ expires_in_days: 1 })
    expect(await me(gateway, key)).toEqual([200, null])
    await gateway.database.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id])
    for (const each of [key, makeApiKey(), `${key}x`, key.slice(0, -1), 'svc_', 'svc_x']) {
      expect(await me(gateway, each)).toEqual([401, 'INVALID_CREDENTIALS'])
    }
    expect(await me(gateway, key.replace('svc_', 'SVC_'))).toEqual([401, 'INVALID_TOKEN'])
  })

  test('is refused by its checksum if it is mistyped, without a query', async () => {
    const queries: string[] = []
    const { database } = gateway.dependencies
    const query: typeof database.query = (statement, values) => {
      queries.push(sqlOf(statement))
      return database.query(statement, values)
    }
    const watched = createGateway({ ...gateway.dependencies, database: { ...database, query } })
    const { key } = await make()
    const at = 20
    const typo = key.slice(0, at) + (key[at] === 'A' ? 'B' : 'A') + key.slice(at + 1)
    expect([isWellFormedApiKey(key), isWellFormedApiKey(typo)]).toEqual([true, false])
    expect(await me(watched, typo)).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(queries).toEqual([])
    expect(await me(watched, key)).toEqual([200, null])
    expect(queries.length).toBeGreaterThan(0)
  })

  test('records a use from a new address at once, and from the same address once a minute', async () => {
    const { key } = await make()
    const writes: unknown[][] = []
    const query: typeof gateway.database.query = (statement, values) => {
      if (sqlOf(statement).includes('UPDATE api_keys')) writes.push(valuesOf(statement, values))
      return gateway.database.query(statement, values)
    }
    const authenticate = createAuthenticate({
      database: { query },
      accessTokens: {} as AccessTokens,
      logger: testLogger,
    })
    const use = (address: string) => authenticate(`Bearer ${key}`, address)
    const lastAddress = async () => (await list())[0].last_used_ip
    await use('192.0.2.1')
    await waitFor(async () => (await lastAddress()) === '192.0.2.1', { what: 'the first use' })
    await use('192.0.2.2')
    await waitFor(async () => (await lastAddress()) === '192.0.2.2', { what: 'the use from a new address' })
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) await use(address)
    expect(writes.map(([, address]) => address)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('overrides freezes for an administrator only if its scopes say so', async () => {
    const body = { override_freeze: true, override_reason: 'because' }
    const outcomeWith = async (...scopes: string[]) => {
      const { key } = await make({ scopes: ['deployments:create', ...scopes] }, gateway.adminToken)
      return outcome(gateway, key, 'post', '/deployments', body)
    }
    expect(await outcomeWith()).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    expect(await outcomeWith('deployments:override')).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('cannot list the keys of its user', async () => {
    const { key } = await make()
    expect(await outcome(gateway, key, 'get', '/auth/api-keys')).toEqual([403, 'FORBIDDEN'])
  })

  test('belongs to the tenant of its user', async () => {
    const tenant = await request(gateway.app)
      .post('/api/v1/tenants')
      .set('Authorization', `Bearer ${gateway.adminToken}`)
      .send({ name: `tenant of ${user.id}` })
    const bound = await addUser(gateway, { role: 'operator', tenant_id: tenant.body.id })
    const { key } = await make({}, bound.token)
    const made = await request(gateway.app)
      .post('/api/v1/targets')
      .set('Authorization', `Bearer ${key}`)
      .send(target('bound'))
    expect(made.body.tenant_id).toBe(tenant.body.id)
    const foreign = await request(gateway.app)
      .post('/api/v1/targets')
      .set('Authorization', `Bearer ${user.token}`)
      .send(target('shared'))
    const { id } = foreign.body
    const changed = await gateway.database.query('UPDATE targets SET tenant_id = NULL WHERE id = $1', [id])
    expect(changed.rowCount).toBe(1)
    expect(await outcome(gateway, key, 'get', `/targets/${made.body.id}`)).toEqual([200, null])
  })
})

describe('keys of other users', () => {
  test('are neither listed nor deleted, not even by administrators', async () => {
    const { id, key } = await make()
    const other = await addUser(gateway, { role: 'admin' })
    expect(await list(other.token)).toEqual([])
    expect(await outcome(gateway, other.token, 'delete', `/auth/api-keys/${id}`)).toEqual([404, 'NOT_FOUND'])
    expect(await outcome(gateway, other.token, 'delete', '/auth/api-keys/nonsense')).toEqual([404, 'NOT_FOUND'])
    expect(await me(gateway, key)).toEqual([200, null])
  })

  test('a key can revoke itself but no other key of its user', async () => {
    const [one, two] = [await make(), await make({ scopes: ['targets:read'] })]
    expect(await outcome(gateway, two.key, 'delete', `/auth/api-keys/${one.id}`)).toEqual([403, 'FORBIDDEN'])
    expect(await outcome(gateway, two.key, 'delete', `/auth/api-keys/${two.id}`)).toEqual([200, null])
    expect(await me(gateway, two.key)).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(await me(gateway, one.key)).toEqual([200, null])
  })
})
