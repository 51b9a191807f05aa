// Commands for service accounts, trusts, role bindings, keys and rights.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ACCOUNT = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a01'
const PERSON = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a02'
const STAGING = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a03'
const PRODUCTION = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a04'
const SHOP = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a05'
const TRUST = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a06'
const KEY = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a07'

const inStaging = { role: 'deployer', environment_ids: [STAGING], solution_ids: null }
const inBoth = { role: 'deployer', environment_ids: [STAGING, PRODUCTION], solution_ids: [SHOP] }
const common = { status: 'active', tenant_id: null, created_at: '2026-01-01T00:00:00Z' }
const account = { id: ACCOUNT, kind: 'service', username: 'ci', email: null, roles: [], role_bindings: [], ...common }
const person = {
  id: PERSON,
  kind: 'person',
  username: 'ada',
  email: 'ada@example.com',
  roles: ['user'],
  role_bindings: [inStaging, inBoth],
  ...common,
}
const key = { id: KEY, name: 'old', key_prefix: 'svc_x', scopes: [], environment_ids: [STAGING], solution_ids: null }
const list =
  (...data: object[]): RouteHandler =>
  (_, response) =>
    sendJson(response, 200, { data, meta: {} })
const answer =
  (body: object, status = 200): RouteHandler =>
  (_, response) =>
    sendJson(response, status, body)
const deleted: RouteHandler = (_, response) => response.writeHead(204, { 'x-request-id': 'r' }).end()
/** Answers with the user as the request changes it. */
const changed =
  (user: object): RouteHandler =>
  (_, response, body) =>
    sendJson(response, 200, { ...user, ...(body as object) })

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /admin/users': list(account, person),
    'POST /admin/users': changed(account),
    [`PATCH /admin/users/${ACCOUNT}`]: changed(account),
    [`PATCH /admin/users/${PERSON}`]: changed(person),
    [`GET /admin/users/${PERSON}`]: answer(person),
    'GET /environments': list({ id: STAGING, name: 'staging' }, { id: PRODUCTION, name: 'production' }),
    'GET /solutions': list({ id: SHOP, name: 'Shop' }),
    'GET /admin/roles': list({ id: TRUST, name: 'operator' }, { id: SHOP, name: 'deployer' }),
    'POST /admin/roles': changed({ id: TRUST }),
    [`GET /admin/users/${ACCOUNT}/trusts`]: answer({ trusts: [{ id: TRUST, name: 'main', claims: { ref: 'x' } }] }),
    [`POST /admin/users/${ACCOUNT}/trusts`]: (_, response, body) => sendJson(response, 201, body),
    [`DELETE /admin/users/${ACCOUNT}/trusts/${TRUST}`]: deleted,
    'GET /auth/api-keys': answer({ api_keys: [] }),
    'POST /auth/api-keys': answer({ api_key: key, full_key: 'svc_own', warning: 'Store it' }, 201),
    [`GET /admin/users/${ACCOUNT}/api-keys`]: answer({ api_keys: [key] }),
    [`POST /admin/users/${ACCOUNT}/api-keys`]: answer({ api_key: key, full_key: 'svc_ci', warning: 'Store it' }, 201),
    [`DELETE /admin/users/${ACCOUNT}/api-keys/${KEY}`]: deleted,
    'GET /auth/me': answer({ ...person, permissions: [], display_name: null, last_login_at: null }),
    'GET /auth/can': ({ url = '' }, response) => {
      const allowed = url.includes(STAGING)
      sendJson(response, 200, { allowed, because: allowed ? 'Your role gives it' : 'No role gives it there' })
    },
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})

const slipway = (...args: string[]) => runSlipway(server.url, args)
const getSent = (route: string) => server.requests.find((one) => one.route === route)?.body

test('service accounts are the users of that kind, by their user name', async () => {
  expect((await slipway('service-accounts', 'list', '-o', 'name')).stdout).toBe('ci\n')
  expect(await slipway('service-accounts', 'show', 'ada')).toMatchObject({ code: 3 })
  expect(await slipway('service-accounts', 'show', PERSON)).toMatchObject({ code: 3 })
})

test('a service account is created with roles, or with roles in a scope', async () => {
  await slipway('service-accounts', 'create', 'ci', '--role', 'operator')
  expect(getSent('POST /admin/users')).toEqual({ kind: 'service', username: 'ci', roles: ['operator'] })
  server.requests.length = 0
  const create = ['service-accounts', 'create', 'ci', '--role', 'deployer', '--environment', 'staging']
  const { stdout } = await slipway(...create)
  expect(getSent('POST /admin/users')).toEqual({
    kind: 'service',
    username: 'ci',
    roles: [],
    role_bindings: [inStaging],
  })
  expect(stdout).toContain(': deployer in staging')
})

test('a role that does not exist is named before the request', async () => {
  const { code, stderr } = await slipway('bindings', 'create', 'ada@example.com', '--role', 'deploier')
  expect([code, stderr]).toEqual([3, expect.stringContaining('did you mean deployer?')])
})

test('a service account is suspended', async () => {
  await slipway('service-accounts', 'edit', 'ci', '--status', 'suspended')
  expect(getSent(`PATCH /admin/users/${ACCOUNT}`)).toEqual({ status: 'suspended' })
})

test('a role is created with permissions', async () => {
  await slipway('roles', 'create', 'deployer', '--permission', 'deployments:create', '--permission', 'targets:read')
  const permissions = ['deployments:create', 'targets:read']
  expect(getSent('POST /admin/roles')).toEqual({ name: 'deployer', permissions })
})

test('a trust has the address of the server as audience', async () => {
  const { code, stderr } = await slipway('trusts', 'create', 'ci', '--github', 'acme/shop', '--branch', 'main')
  expect([code, stderr]).toEqual([0, ''])
  expect(getSent(`POST /admin/users/${ACCOUNT}/trusts`)).toEqual({
    name: 'acme/shop main',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: server.url,
    claims: { repository: 'acme/shop', ref: 'refs/heads/main', event_name: 'push' },
  })
})

test('a trust in all branches of a repository gives a warning', async () => {
  const { stderr } = await slipway('trusts', 'create', 'ci', '--gitlab', 'acme/shop')
  expect(stderr).toContain('every branch of acme/shop')
})

test('a trust is deleted by its name', async () => {
  expect(await slipway('trusts', 'delete', 'ci', 'main', '--yes')).toMatchObject({ code: 0, stderr: '' })
  expect(server.count(`DELETE /admin/users/${ACCOUNT}/trusts/${TRUST}`)).toBe(1)
})

test('a user may keep the password as the last way in', async () => {
  await slipway('users', 'edit', 'ada@example.com', '--break-glass', 'yes')
  expect(getSent(`PATCH /admin/users/${PERSON}`)).toEqual({ break_glass: true })
})

test('bindings are listed with names, roles without a scope among them', async () => {
  const { stdout } = await slipway('bindings', 'list', 'ada@example.com')
  expect(stdout).toMatch(/user +all +all\n/)
  expect(stdout).toMatch(/deployer +staging, production +Shop\n/)
})

test.each([
  [
    'a role in a scope',
    ['--environment', 'production'],
    { roles: ['user'], role_bindings: [inStaging, inBoth, expect.objectContaining({ environment_ids: [PRODUCTION] })] },
  ],
  ['a role that the user has', ['--environment', 'staging'], { roles: ['user'], role_bindings: [inBoth, inStaging] }],
  ['a role without a scope', [], { roles: ['user', 'deployer'], role_bindings: [inStaging, inBoth] }],
])('%s is added to the others', async (_, scope, expected) => {
  expect(await slipway('bindings', 'create', 'ada@example.com', '--role', 'deployer', ...scope)).toMatchObject({
    code: 0,
  })
  expect(getSent(`PATCH /admin/users/${PERSON}`)).toEqual(expected)
})

test('a binding is removed by its scope, in any order, and no other one', async () => {
  const remove = ['bindings', 'delete', 'ada@example.com', '--role', 'deployer', '--yes']
  const scope = ['--environment', 'production', '--environment', 'staging', '--solution', 'Shop']
  expect(await slipway(...remove, ...scope)).toMatchObject({ code: 0 })
  expect(getSent(`PATCH /admin/users/${PERSON}`)).toEqual({ roles: ['user'], role_bindings: [inStaging] })
  const { code, stderr } = await slipway(...remove, '--environment', 'production')
  expect([code, stderr]).toEqual([3, expect.stringContaining('deployer in staging, production for Shop')])
})

test('a key is limited to environments and solutions', async () => {
  await slipway('keys', 'create', 'ci', '--environment', 'staging', '--solution', 'Shop')
  expect(getSent('POST /auth/api-keys')).toEqual({ name: 'ci', environment_ids: [STAGING], solution_ids: [SHOP] })
})

test('--account manages the keys of a service account', async () => {
  expect((await slipway('keys', 'create', 'new', '--account', 'ci')).stdout).toBe('svc_ci\n')
  expect((await slipway('keys', 'list', '--account', 'ci')).stdout).toMatch(/old .* in staging /)
  expect(await slipway('keys', 'delete', 'old', '--account', 'ci', '--yes')).toMatchObject({ code: 0 })
  expect(server.count(`DELETE /admin/users/${ACCOUNT}/api-keys/${KEY}`)).toBe(1)
})

test.each([
  ['staging', 0, 'yes: Your role gives it\n'],
  ['production', 3, 'no: No role gives it there\n'],
])('can: the answer for %s exits with %i', async (environment, code, stdout) => {
  const right = ['can', 'deployments:create', '--environment', environment, '--solution', 'Shop']
  expect(await slipway(...right)).toMatchObject({ code, stdout })
  const asked = server.requests.find(({ route }) => route === 'GET /auth/can')
  expect(Object.fromEntries(asked?.query ?? [])).toMatchObject({
    permission: 'deployments:create',
    source_type: 'solution',
    source_id: SHOP,
  })
})

test('whoami shows roles with their scopes', async () => {
  expect((await slipway('whoami')).stdout).toContain('deployer in staging, production for Shop')
})
