import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { loginAs, outcome, verify } from './credentials.ts'
import { addTenant, addUser, clientOf, refusal, refused, startGateway, type TestGateway, tokenFor } from './setup.ts'

let gateway: TestGateway

const PASSWORD = 'a-password-that-is-right'

beforeAll(async () => {
  gateway = await startGateway({ passwordLogin: false })
})
afterAll(async () => await gateway.close())

const admin = () => clientOf(gateway, gateway.adminToken)

test('without password login only users with break_glass log in and change their password', async () => {
  const ordinary = await addUser(gateway, { role: 'user', password: PASSWORD })
  const emergency = await addUser(gateway, { role: 'user', password: PASSWORD })
  const set = await admin().send('updateUser', `/admin/users/${emergency.id}`, { break_glass: true })
  expect(set.body).toMatchObject({ break_glass: true })
  const codeOf = async (email: string, password: string) => {
    const { status, body } = await loginAs(gateway, email, password)
    return [status, body.error?.code ?? null, body.error?.message ?? null]
  }

  // One answer for all, so that it tells nothing about accounts.
  const off = await codeOf(ordinary.email, PASSWORD)
  expect(off.slice(0, 2)).toEqual([403, 'FORBIDDEN'])
  expect(await codeOf(ordinary.email, 'a-password-that-is-wrong')).toEqual(off)
  expect(await codeOf(emergency.email, 'a-password-that-is-wrong')).toEqual(off)
  expect(await codeOf('nobody@example.com', PASSWORD)).toEqual(off)
  expect(await codeOf(emergency.email, PASSWORD)).toEqual([200, null, null])

  const change = { current_password: PASSWORD, new_password: 'another-password-that-is-right' }
  const changeAs = ({ token }: { token: string }) => outcome(gateway, token, 'post', '/auth/password', change)
  expect(await changeAs(ordinary)).toEqual([403, 'FORBIDDEN'])
  expect(await changeAs(emergency)).toEqual([200, null])
})

test('a pending second factor ends when password login is switched off', async () => {
  const { id } = await addUser(gateway, { role: 'user', password: PASSWORD })
  await gateway.database.query('UPDATE users SET totp_enabled = true WHERE id = $1', [id])
  const pending = gateway.dependencies.accessTokens.issuePending({ user_id: id, token_version: 1 })
  expect(await verify(gateway, pending, '123456')).toMatchObject({ status: 403 })
})

test('no API key and no service account sets break_glass, whatever its user may do', async () => {
  const { id } = await addUser(gateway, { role: 'user' })
  const key = await admin().send('createApiKey', '/auth/api-keys', { name: 'of an administrator' })
  const service = { kind: 'service', username: 'robot', roles: ['admin'] }
  const account = await admin().send('createUser', '/admin/users', service)
  const forbidden = refused(403, 'FORBIDDEN')
  const { database, dependencies } = gateway
  const ofAccount = await tokenFor({ ...dependencies, database }, account.body.id)
  for (const token of [key.body.full_key, ofAccount]) {
    const client = clientOf(gateway, token)
    const set = await client.send('updateUser', `/admin/users/${id}`, { break_glass: true })
    expect(refusal(set)).toEqual(forbidden)
    expect((await client.send('updateUser', `/admin/users/${id}`, { display_name: 'Ada' })).status).toBe(200)
  }
})

test('only administrators without tenant set break_glass', async () => {
  const { id, username } = await addUser(gateway, { role: 'user' })
  const tenant = await addTenant(gateway, 'Shop')
  const own = await tenant.admin.send('createUser', '/admin/users', {
    email: 'own@example.com',
    username: 'own',
    password: PASSWORD,
    roles: ['user'],
  })
  const forbidden = refused(403, 'FORBIDDEN')
  const change = { break_glass: true }
  expect(refusal(await tenant.admin.send('updateUser', `/admin/users/${own.body.id}`, change))).toEqual(forbidden)
  const create = { email: 'new@example.com', username: 'new', password: PASSWORD, roles: ['user'], ...change }
  expect(refusal(await tenant.admin.send('createUser', '/admin/users', create))).toEqual(forbidden)
  expect((await admin().send('createUser', '/admin/users', create)).body).toMatchObject({ break_glass: true })
  const { rows } = await gateway.database.query('SELECT break_glass FROM users WHERE id = $1', [id])
  expect({ username, rows }).toEqual({ username, rows: [{ break_glass: false }] })
})
