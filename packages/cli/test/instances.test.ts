import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const TENANT = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const grant = {
  id: ID,
  status: 'active',
  uses: 2,
  used: 0,
  labels: { pool: 'eu', zone: null },
  tenant_id: TENANT,
  expires_at: '2036-01-01T00:00:00Z',
  created_by: null,
  created_at: '2026-01-01T00:00:00Z',
}
const page = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /admin/instances': (_request, response) =>
      sendJson(response, 200, { data: [{ id: ID, name: 'runner-1' }], meta: page }),
    [`PATCH /admin/instances/${ID}`]: (_request, response, body) =>
      sendJson(response, 200, {
        id: ID,
        name: 'runner-1',
        active: 1,
        status: (body as { draining: boolean }).draining ? 'draining' : 'online',
      }),
    'GET /tenants': (_request, response) =>
      sendJson(response, 200, { data: [{ id: TENANT, name: 'Acme' }], meta: page }),
    'POST /instances/grants': (_request, response) => sendJson(response, 201, { ...grant, token: `${ID}.secret` }),
    'GET /instances/grants': (_request, response) => sendJson(response, 200, { data: [grant], meta: page }),
    [`DELETE /instances/grants/${ID}`]: (_request, response) => response.writeHead(204, { 'x-request-id': 'r' }).end(),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})

const slipway = (...args: string[]) => runSlipway(server.url, args)

test('join-tokens create sends its options and prints only the token', async () => {
  const options = ['--uses', '2', '--expires', '1.5h', '--label', 'pool=eu', '--label', 'zone', '--tenant', 'Acme']
  const { code, stdout, stderr } = await slipway('join-tokens', 'create', ...options)
  expect([code, stdout]).toEqual([0, `${ID}.secret\n`])
  expect(stderr).toContain('2 instances join with this token')
  expect(server.requests.at(-1)).toMatchObject({
    route: 'POST /instances/grants',
    body: { uses: 2, expires_in_seconds: 5_400, labels: { pool: 'eu', zone: null }, tenant_id: TENANT },
  })
})

test('join-tokens create -o json prints the record, and without options the server chooses the values', async () => {
  const { stdout, stderr } = await slipway('join-tokens', 'create', '-o', 'json')
  expect([JSON.parse(stdout), stderr]).toEqual([{ ...grant, token: `${ID}.secret` }, ''])
  expect(server.requests.map(({ body }) => body)).toEqual([{}])
})

test('join-tokens create -o name prints the token, which is not shown again', async () => {
  expect((await slipway('join-tokens', 'create', '-o', 'name')).stdout).toBe(`${ID}.secret\n`)
})

test('join-tokens list shows no tokens, and join-tokens delete deletes', async () => {
  const { stdout } = await slipway('join-tokens', 'list')
  expect(stdout).toMatch(/active\s+0 of 2\s+pool=eu zone/)
  expect((await slipway('join-tokens', 'delete', ID, '--yes')).stdout).toBe(`deleted join token ${ID}\n`)
  expect(server.count(`DELETE /instances/grants/${ID}`)).toBe(1)
})

test('a malformed label is a usage error', async () => {
  expect(await slipway('join-tokens', 'create', '--label', '=eu')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('KEY'),
  })
})

test.each([
  ['drain', true, 'instance runner-1 is draining and runs 1 deployments\n'],
  ['resume', false, 'instance runner-1 is online and runs 1 deployments\n'],
])('%s sends draining: %j', async (command, draining, stdout) => {
  expect(await slipway('instances', command, 'runner-1')).toMatchObject({ code: 0, stdout })
  expect(server.requests.at(-1)).toMatchObject({ route: `PATCH /admin/instances/${ID}`, body: { draining } })
})
