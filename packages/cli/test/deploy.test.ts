import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway, startSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '028f6b1e-6d1c-7c3a-8a51-0f1f5c1b2a3e'
const OWNED = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a4d'
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
const started = { deployment_id: ID, pending: false, deployment: { config: {} }, warnings: [] }
const freeze = (name: string, more: object) => ({
  id: name,
  name,
  active: true,
  start_time: '2036-01-01T00:00:00Z',
  end_time: '2036-01-02T00:00:00Z',
  recurrence: null,
  time_zone: null,
  tenant_id: null,
  environment_id: null,
  solution_id: null,
  ...more,
})

let tenantOfCaller: string | null = null
let interrupt: (() => void) | undefined
let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const list = (...data: object[]) => ({ data, meta })
  server = await startFakeServer({
    'GET /actions': (_, response) => sendJson(response, 200, list({ id: ID, name: 'greet' })),
    'GET /sequences': (_, response) => sendJson(response, 200, list()),
    'GET /solutions': (_, response) => sendJson(response, 200, list({ id: OTHER, name: 'shop' })),
    'GET /targets': (_, response) =>
      sendJson(
        response,
        200,
        list(
          { id: ID, name: 'web-1', enabled: true, tenant_id: null, environment_id: OTHER },
          { id: OWNED, name: 'web-4', enabled: true, tenant_id: OTHER, environment_id: OTHER },
          { id: 'disabled', name: 'web-3', enabled: false, tenant_id: null, environment_id: OTHER },
        ),
      ),
    'GET /tenants': (_, response) => sendJson(response, 200, list({ id: OTHER, name: 'acme' })),
    'GET /auth/me': (_, response) => sendJson(response, 200, { username: 'ada', tenant_id: tenantOfCaller }),
    'GET /environments': (_, response) => sendJson(response, 200, list({ id: OTHER, name: 'production' })),
    'GET /deployment-freezes': (_, response) =>
      sendJson(
        response,
        200,
        list(
          freeze('of production', { environment_id: OTHER }),
          freeze('of shop', { solution_id: OTHER }),
          freeze('over', { active: false }),
        ),
      ),
    'POST /deployments': (_, response) => {
      interrupt?.()
      sendJson(response, 201, started)
    },
    [`GET /deployments/${OTHER}`]: (_, response) => sendJson(response, 200, { id: OTHER }),
    [`GET /deployments/${ID}`]: (_, response) => sendJson(response, 200, { id: ID }),
    [`POST /deployments/${ID}/cancel`]: (_, response) => sendJson(response, 200, { id: ID, state: 'cancelled' }),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  interrupt = undefined
  tenantOfCaller = null
  server.requests.length = 0
})
const slipway = (...args: string[]) => runSlipway(server.url, args)

test.each([
  ['source', ['deploy', 'gree', '-t', 'web-1'], 'there is no solution, sequence or action "gree"; did you mean greet?'],
  ['target', ['deploy', 'greet', '-t', 'web-2'], 'there is no target "web-2"'],
  [
    'file',
    ['deploy', 'greet', '-t', 'web-1', '--var-file', '/nowhere.env'],
    '--var-file /nowhere.env cannot be read (ENOENT)',
  ],
])('an unknown %s is refused before a deployment is created', async (_, args, message) => {
  expect(await slipway(...args)).toMatchObject({ code: 3, stderr: expect.stringContaining(message) })
  expect(server.count('POST /deployments')).toBe(0)
})

test('--versions-of takes a deployment by its id or @last, and no version beside it', async () => {
  const deploy = (...args: string[]) => slipway('deploy', 'greet', '-t', 'web-1', '--versions-of', ...args)
  expect(await deploy(OTHER)).toMatchObject({ code: 0 })
  expect(await deploy('@last')).toMatchObject({ code: 0 })
  expect(await deploy(OTHER, '--source-version', '1.0.0')).toMatchObject({ code: 2 })
  const bodies = server.requests.filter(({ route }) => route === 'POST /deployments').map(({ body }) => body)
  // The first deployment is the last one of the second.
  expect(bodies).toMatchObject([{ versions_of: OTHER }, { versions_of: ID }])
})

test.each([
  [['--cancel-on-interrupt'], 4, 1],
  [[], 130, 0],
])('Ctrl-C before the answer of the server, with %j, takes effect after the answer', async (options, code, cancels) => {
  const running = startSlipway(['deploy', 'greet', '-t', 'web-1', '--wait', ...options], {
    env: { SLIPWAY_URL: server.url },
  })
  interrupt = running.interrupt
  const ended = await running.ended
  expect(ended).toMatchObject({ code, stdout: expect.stringContaining(`deployment ${ID}\n`) })
  expect(server.count(`POST /deployments/${ID}/cancel`)).toBe(cancels)
})

test.each([
  [[], 7, ['of production', 'of shop']],
  [['-e', 'production'], 7, ['of production']],
  [['-t', 'web-1'], 7, ['of production']],
  [['--solution', 'shop'], 7, ['of shop']],
])('freeze check %j exits with %i and lists %j', async (options, code, names) => {
  const { stdout, ...ended } = await slipway('freeze', 'check', ...options, '-o', 'name')
  expect([ended.code, stdout.trim().split('\n')]).toEqual([code, names])
})

test('an environment is taken for all of its enabled targets only if that is said', async () => {
  expect(await slipway('deploy', 'shop', '-e', 'production')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--all-targets'),
  })
  expect(await slipway('deploy', 'shop', '--all-targets')).toMatchObject({ code: 2 })
  expect(await slipway('deploy', 'shop', '-e', 'production', '--all-targets', '-t', 'web-1')).toMatchObject({
    code: 2,
  })
  expect(server.count('POST /deployments')).toBe(0)
  expect(await slipway('deploy', 'shop', '-e', 'production', '--all-targets')).toMatchObject({ code: 0 })
  const sent = server.requests.find(({ route }) => route === 'POST /deployments')
  expect(sent?.body).toMatchObject({ target_ids: [ID], environment_id: OTHER })
})

test.each([
  [[], null, [ID], 'warning: 1 target of other tenants left out: --tenant NAME takes'],
  [['--tenant', 'acme'], null, [ID, OWNED], ''],
  [[], OTHER, [ID, OWNED], ''],
])('--all-targets %j for a caller of the tenant %s takes %j', async (options, tenant, targets, warning) => {
  tenantOfCaller = tenant
  const { stderr } = await slipway('deploy', 'shop', '-e', 'production', '--all-targets', ...options)
  expect(stderr).toContain(warning)
  expect(stderr.includes('left out')).toBe(warning !== '')
  const sent = server.requests.find(({ route }) => route === 'POST /deployments')
  expect(sent?.body).toMatchObject({ target_ids: targets })
})
