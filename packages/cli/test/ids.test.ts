import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '028f6b1e-6d1c-7c3a-8a51-0f1f5c1b2a3e'
const HASH = `${'ab12'.repeat(16)}`
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
const tenant = (id: string, sqid: string, name: string) => ({
  id,
  sqid,
  name,
  slug: name,
  variables: {},
  sensitive_variables: [],
  instance_selector: null,
  updated_at: '2026-07-01T12:30:00Z',
})
const tenants = [tenant(ID, 'w1hrVm4W', 'Acme'), tenant(OTHER, 'w1hrXXXX', 'Beta')]
const key = (id: string, name: string) => ({
  id,
  name,
  description: null,
  key_prefix: 'svc_x',
  scopes: [],
  last_used_at: null,
  last_used_ip: null,
  created_at: '2026-07-01T12:30:00Z',
  expires_at: null,
})
const request = {
  id: ID,
  status: 'pending',
  priority: 0,
  position: 1,
  source_name: 'web',
  source_version: '1.0.0',
  target_count: 0,
  targets: [],
  queued_at: '2026-07-01 12:30:00',
}
const content = { id: HASH, size: 4, uploaded_at: '2026-07-01T12:30:00Z', used_by: [], version_count: 0 }

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /tenants': ({ url }, response) => {
      const search = new URL(url ?? '', 'http://fake').searchParams.get('search')
      sendJson(response, 200, { data: tenants.filter(({ name }) => search === null || name.includes(search)), meta })
    },
    'GET /auth/api-keys': (_, response) =>
      sendJson(response, 200, { api_keys: [key(ID, 'pipeline'), key(OTHER, 'ci')] }),
    'POST /auth/api-keys': (_, response) =>
      sendJson(response, 201, { api_key: key(ID, 'pipeline'), full_key: 'svc_secret', warning: 'store it now' }),
    [`DELETE /auth/api-keys/${ID}`]: (_, response) => sendJson(response, 200, {}),
    'GET /audit/logs': (_, response) => sendJson(response, 200, { data: [], meta }),
    'GET /deployments/pending': (_, response) => sendJson(response, 200, [request]),
    [`GET /deployments/pending/${ID}`]: (_, response) => sendJson(response, 200, request),
    [`PATCH /deployments/pending/${ID}`]: (_, response) => sendJson(response, 200, request),
    [`DELETE /deployments/pending/${ID}`]: (_, response) => sendJson(response, 200, {}),
    'GET /content': (_, response) => sendJson(response, 200, { data: [content], meta }),
    [`GET /content/${HASH}`]: (_, response) =>
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('data'),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})
const slipway = (...args: string[]) => runSlipway(server.url, args)

test('the beginning of a short id names a record', async () => {
  expect((await slipway('tenants', 'show', 'w1hrV', '-o', 'name')).stdout).toBe('Acme\n')
  const { code, stderr } = await slipway('tenants', 'show', 'w1hr')
  expect(code).toBe(3)
  expect(stderr).toContain('begins with "w1hr"\n  w1hrVm4W Acme\n  w1hrXXXX Beta')
})

test.each(['pipeline', '018f', ID])('an API key is named by %s', async (given) => {
  expect((await slipway('keys', 'show', given)).stdout).toMatch(/^key: +pipeline\nid: +018f/)
  expect((await slipway('keys', 'delete', given, '--yes')).stdout).toBe(`deleted key pipeline (${ID})\n`)
  expect((await slipway('audit', '--api-key', given)).code).toBe(0)
  expect(server.requests.at(-1)?.query.get('api_key_id')).toBe(ID)
})

test('a new API key has a name for -o name, and is not lost', async () => {
  const { stdout, stderr } = await slipway('keys', 'create', 'pipeline', '-o', 'name')
  expect([stdout, stderr]).toEqual(['pipeline\n', 'store it now: svc_secret\n'])
})

test('an unknown API key is refused', async () => {
  const { code, stderr } = await slipway('keys', 'delete', 'nothing')
  expect([code, stderr]).toEqual([3, 'slipway: there is no API key "nothing"\n'])
})

test('a request in the queue is named by four characters, and shown', async () => {
  expect((await slipway('pending', 'show', '018f')).stdout).toMatch(/^request: +018f6b1e-/)
})

const READ = `GET /deployments/pending/${ID}`
test.each([
  ['show', [READ]],
  ['why', [READ]],
  ['cancel', [`DELETE /deployments/pending/${ID}`]],
  ['reprioritize --priority 0', [`PATCH /deployments/pending/${ID}`]],
])('pending %s with a whole id does not list the queue', async (command, routes) => {
  expect((await slipway('pending', ...command.split(' '), ID)).code).toBe(0)
  expect(server.requests.map(({ route }) => route)).toEqual(routes)
})

test('status and cancel with the id of a request do not list the queue', async () => {
  expect((await slipway('status', ID)).stdout).toMatch(/^request: +018f6b1e-/)
  expect((await slipway('cancel', ID)).stdout).toBe(`request ${ID} was cancelled\n`)
  expect(server.count(READ)).toBe(2)
  expect(server.count('GET /deployments/pending')).toBe(0)
})

test('an unknown request is refused', async () => {
  const { code, stderr } = await slipway('pending', 'show', OTHER)
  expect([code, stderr]).toEqual([3, `slipway: there is no request ${OTHER} in the queue\n`])
})

test('content is named by the beginning of its hash, and shown', async () => {
  expect((await slipway('content', 'show', 'ab12ab')).stdout).toMatch(/^id: +ab12[\s\S]*size: +4/)
  expect((await slipway('content', 'download', 'ab12ab')).stdout).toBe('data')
})

test.each([
  ['abc', 'too short'],
  ['ffff', 'too short'],
  [
    'web-server',
    'is not the id of a deployment or of a request: give the id, its first 8 characters or more, or @last',
  ],
])('status %s says what is wrong', async (given, message) => {
  const { code, stderr } = await slipway('status', given)
  expect([code, stderr]).toEqual([3, expect.stringContaining(message)])
  expect(server.requests).toEqual([])
})

test('@last before the first deployment says so', async () => {
  const { code, stderr } = await slipway('status', '@last')
  expect([code, stderr]).toEqual([3, expect.stringContaining('@last: nothing was deployed to')])
})

test('the beginning of no id is refused', async () => {
  const { code, stderr } = await slipway('status', 'ffffffff')
  expect([code, stderr]).toEqual([3, expect.stringContaining('no deployment and no request has an id that begins')])
})
