// Commands for service accounts, role bindings, keys and rights.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ACCOUNT = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a01'
const PERSON = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a02'
const STAGING = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a03'
const PRODUCTION = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a04'
const ROLE = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a08'
const SHOP = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a05'

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
const key = { id: SHOP, name: 'ci' }
const list =
  (...data: object[]): RouteHandler =>
  (_, response) =>
    sendJson(response, 200, { data, meta: {} })
const answer =
  (body: object, status = 200): RouteHandler =>
  (_, response) =>
    sendJson(response, status, body)
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
    'POST /admin/roles': changed({ id: ROLE }),
    'GET /auth/api-keys': answer({ api_keys: [] }),
    'POST /auth/api-keys': answer({ api_key: key, full_key: 'svc_own', warning: 'Store it' }, 201),
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
  expect(stdout).toContain('ci, deployer in staging')
})

test('a service account is suspended', async () => {
  await slipway('service-accounts', 'change', 'ci', '--status', 'suspended')
  expect(getSent(`PATCH /admin/users/${ACCOUNT}`)).toEqual({ status: 'suspended' })
})

test('a role is created with permissions', async () => {
  await slipway('roles', 'create', 'deployer', '--permission', 'deployments:create', '--permission', 'targets:read')
  const permissions = ['deployments:create', 'targets:read']
  expect(getSent('POST /admin/roles')).toEqual({ name: 'deployer', permissions })
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
  expect(await slipway('bindings', 'add', 'ada@example.com', '--role', 'deployer', ...scope)).toMatchObject({ code: 0 })
  expect(getSent(`PATCH /admin/users/${PERSON}`)).toEqual(expected)
})

test('a binding is removed by its scope, in any order, and no other one', async () => {
  const remove = ['bindings', 'remove', 'ada@example.com', '--role', 'deployer']
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
