// Commands for service accounts and roles.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ACCOUNT = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a01'
const PERSON = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a02'
const ROLE = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a08'

const common = { status: 'active', tenant_id: null, roles: [], created_at: '2026-01-01T00:00:00Z' }
const account = { id: ACCOUNT, kind: 'service', username: 'ci', email: null, ...common }
const person = { id: PERSON, kind: 'person', username: 'ada', email: 'ada@example.com', ...common }
const list =
  (...data: object[]): RouteHandler =>
  (_, response) =>
    sendJson(response, 200, { data, meta: {} })
/** Answers with the record as the request changes it. */
const changed =
  (record: object): RouteHandler =>
  (_, response, body) =>
    sendJson(response, 200, { ...record, ...(body as object) })

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /admin/users': list(account, person),
    'POST /admin/users': changed(account),
    [`PATCH /admin/users/${ACCOUNT}`]: changed(account),
    [`GET /admin/users/${PERSON}`]: (_, response) => sendJson(response, 200, person),
    'POST /admin/roles': changed({ id: ROLE }),
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

test('a service account is created with roles, and suspended', async () => {
  await slipway('service-accounts', 'create', 'ci', '--role', 'operator')
  expect(getSent('POST /admin/users')).toEqual({ kind: 'service', username: 'ci', roles: ['operator'] })
  await slipway('service-accounts', 'change', 'ci', '--status', 'suspended')
  expect(getSent(`PATCH /admin/users/${ACCOUNT}`)).toEqual({ status: 'suspended' })
})

test('a role is created with permissions', async () => {
  await slipway('roles', 'create', 'deployer', '--permission', 'deployments:create', '--permission', 'targets:read')
  const permissions = ['deployments:create', 'targets:read']
  expect(getSent('POST /admin/roles')).toEqual({ name: 'deployer', permissions })
})
