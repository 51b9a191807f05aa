import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { me } from './credentials.ts'
import {
  addTenant,
  addUser,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  tokenFor,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let account: { id: string; username: string }
let counter = 0
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
beforeEach(async () => {
  account = await addAccount(admin)
})
afterAll(() => gateway.close())

async function addAccount(creator: Client, roles = ['operator']) {
  const body = { kind: 'service', username: `account-${++counter}`, roles }
  return (await creator.send('createUser', '/admin/users', body)).body as { id: string; username: string }
}
const trusts = ({ id } = account) => `/admin/users/${id}/trusts`
const keys = ({ id } = account) => `/admin/users/${id}/api-keys`
const trust = (more: object = {}) => ({
  name: 'main',
  issuer: 'https://token.actions.githubusercontent.com',
  audience: 'slipway',
  claims: { repository: 'acme/shop', ref: 'refs/heads/*' },
  ...more,
})
async function callerWith(permissions: string[]): Promise<Client> {
  const name = `role-${++counter}`
  await admin.send('createRole', '/admin/roles', { name, permissions })
  const { id } = await addUser(gateway, { role: 'user' })
  await gateway.database.query('DELETE FROM user_roles WHERE user_id = $1', [id])
  await gateway.database.query('INSERT INTO user_roles SELECT $1, id FROM roles WHERE name = $2', [id, name])
  return clientOf(gateway, await tokenFor({ ...gateway.dependencies, database: gateway.database }, id))
}

describe('the trusts of a service account', () => {
  test('are created, listed and deleted', async () => {
    const { status, body } = await admin.send('createTrust', trusts(), trust())
    expect([status, body]).toEqual([201, expect.objectContaining(trust())])
    const second = (await admin.send('createTrust', trusts(), trust({ name: 'tags' }))).body
    expect((await admin.send('listTrusts', trusts())).body).toEqual({ trusts: [body, second] })
    expect((await admin.send('deleteTrust', `${trusts()}/${body.id}`)).status).toBe(204)
    expect((await admin.send('listTrusts', trusts())).body).toEqual({ trusts: [second] })
    expect(refusal(await admin.send('deleteTrust', `${trusts()}/${body.id}`))).toEqual(refused(404, 'NOT_FOUND'))
    expect(refusal(await admin.send('deleteTrust', `${trusts()}/x`))).toEqual(refused(404, 'NOT_FOUND'))
  })

  test.each<[string, object, string]>([
    ['plain HTTP', { issuer: 'http://issuer.example' }, '/issuer'],
    ['an issuer that is no URL', { issuer: 'github' }, '/issuer'],
    ['an issuer with a query', { issuer: 'https://issuer.example?x' }, '/issuer'],
    ['no claim', { claims: {} }, '/claims'],
    ['only iss and aud', { claims: { iss: 'x', aud: 'y' } }, '/claims'],
    ['only a claim that may be anything', { claims: { sub: '*' } }, '/claims'],
    ['a claim that is a list', { claims: { ref: ['main'] } }, '/claims/ref'],
    ['an empty value', { claims: { ref: '' } }, '/claims/ref'],
    ['an empty audience', { audience: '' }, '/audience'],
    ['an unknown field', { algorithm: 'none' }, '/algorithm'],
  ])('with %s are 400', async (_, more, path) => {
    expect(refusal(await admin.send('createTrust', trusts(), trust(more)))).toMatchObject({
      ...refused(400, 'VALIDATION_ERROR'),
      details: { errors: [{ path }] },
    })
  })

  test('have one name each, and are at most 50', async () => {
    for (let count = 0; count < 50; count += 1) await admin.send('createTrust', trusts(), trust({ name: `t-${count}` }))
    expect(refusal(await admin.send('createTrust', trusts(), trust({ name: 'more' })))).toEqual(
      refused(409, 'CONFLICT'),
    )
    const other = await addAccount(admin)
    expect((await admin.send('createTrust', trusts(other), trust())).status).toBe(201)
    expect(refusal(await admin.send('createTrust', trusts(other), trust()))).toEqual(refused(409, 'CONFLICT'))
  })

  test('are deleted with the account', async () => {
    await admin.send('createTrust', trusts(), trust())
    await admin.send('deleteUser', `/admin/users/${account.id}`)
    expect((await gateway.database.query('SELECT FROM trusts WHERE user_id = $1', [account.id])).rows).toEqual([])
  })
})

describe('the API keys of a service account', () => {
  test('act as the account until they are revoked', async () => {
    const { status, body } = await admin.send('createUserApiKey', keys(), { name: 'old', scopes: ['targets:read'] })
    expect(status).toBe(201)
    const asKey = clientOf(gateway, body.full_key)
    expect((await asKey.send('getCurrentUser', '/auth/me')).body).toMatchObject({
      id: account.id,
      kind: 'service',
      permissions: ['targets:read'],
      api_key_name: 'old',
    })
    expect((await admin.send('listUserApiKeys', keys())).body.api_keys).toMatchObject([{ id: body.api_key.id }])
    expect((await admin.send('deleteUserApiKey', `${keys()}/${body.api_key.id}`)).status).toBe(204)
    expect(await me(gateway, body.full_key)).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(refusal(await admin.send('deleteUserApiKey', `${keys()}/${body.api_key.id}`))).toEqual(
      refused(404, 'NOT_FOUND'),
    )
  })

  test('have no scope that the account lacks', async () => {
    const body = { name: 'k', scopes: ['users:read'] }
    expect(refusal(await admin.send('createUserApiKey', keys(), body))).toEqual(
      refused(403, 'INSUFFICIENT_PERMISSIONS'),
    )
  })
})

describe('trusts and keys', () => {
  test('need every permission of the account', async () => {
    const weak = await callerWith(['users:read', 'users:update', 'targets:read'])
    const lacking = refused(403, 'INSUFFICIENT_PERMISSIONS')
    expect(refusal(await weak.send('createTrust', trusts(), trust()))).toEqual(lacking)
    expect(refusal(await weak.send('createUserApiKey', keys(), { name: 'k' }))).toEqual(lacking)
    const empty = await addAccount(admin, [])
    expect((await weak.send('createTrust', trusts(empty), trust())).status).toBe(201)
    expect((await weak.send('createUserApiKey', keys(empty), { name: 'k' })).status).toBe(201)
  })

  test('are not for persons', async () => {
    const person = await addUser(gateway, { role: 'user' })
    const conflict = refused(409, 'CONFLICT')
    expect(refusal(await admin.send('createTrust', trusts(person), trust()))).toEqual(conflict)
    expect(refusal(await admin.send('createUserApiKey', keys(person), { name: 'k' }))).toEqual(conflict)
    expect(refusal(await admin.send('listUserApiKeys', keys(person)))).toEqual(conflict)
    expect((await admin.send('listTrusts', trusts(person))).body).toEqual({ trusts: [] })
  })

  test('are those of the tenant only, for an administrator of a tenant', async () => {
    const [a, b] = [await addTenant(gateway, `a-${counter}`), await addTenant(gateway, `b-${counter}`)]
    const own = await addAccount(a.admin)
    expect((await a.admin.send('createTrust', trusts(own), trust())).status).toBe(201)
    const { api_key } = (await a.admin.send('createUserApiKey', keys(own), { name: 'k' })).body
    const [made] = (await a.admin.send('listTrusts', trusts(own))).body.trusts
    const notFound = refused(404, 'NOT_FOUND')
    for (const one of [account, own, { id: UNKNOWN_ID }, { id: 'x' }] as (typeof account)[]) {
      expect(refusal(await b.admin.send('createTrust', trusts(one), trust()))).toEqual(notFound)
      expect(refusal(await b.admin.send('listTrusts', trusts(one)))).toEqual(notFound)
      expect(refusal(await b.admin.send('deleteTrust', `${trusts(one)}/${made.id}`))).toEqual(notFound)
      expect(refusal(await b.admin.send('createUserApiKey', keys(one), { name: 'k' }))).toEqual(notFound)
      expect(refusal(await b.admin.send('deleteUserApiKey', `${keys(one)}/${api_key.id}`))).toEqual(notFound)
    }
    expect((await a.admin.send('listTrusts', trusts(own))).body.trusts).toEqual([made])
  })

  test('are not made by an API key or by a service account', async () => {
    const strong = await addAccount(admin, ['admin'])
    const key = (await admin.send('createUserApiKey', keys(strong), { name: 'k' })).body.full_key
    const session = await tokenFor({ ...gateway.dependencies, database: gateway.database }, strong.id)
    for (const token of [key, session]) {
      const program = clientOf(gateway, token)
      expect(refusal(await program.send('createTrust', trusts(), trust()))).toEqual(refused(403, 'FORBIDDEN'))
      expect(refusal(await program.send('createUserApiKey', keys(), { name: 'k' }))).toEqual(refused(403, 'FORBIDDEN'))
    }
  })
})

test('a service account with the role of administrators does not make the last administrator dispensable', async () => {
  await addAccount(admin, ['admin'])
  const { id, permissions } = (await admin.send('getCurrentUser', '/auth/me')).body
  const caller = await callerWith(permissions)
  const suspension = { status: 'suspended' }
  expect(refusal(await caller.send('updateUser', `/admin/users/${id}`, suspension))).toEqual(refused(409, 'CONFLICT'))
})
