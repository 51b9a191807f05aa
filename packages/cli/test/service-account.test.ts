// The credential of a pipeline: SLIPWAY_SERVICE_ACCOUNT with the ID tokens of its platform.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const refuse =
  (status: number, code: string): RouteHandler =>
  (_, response) =>
    sendJson(response, status, { error: { code, message: 'not accepted' } })

type FakeServer = Awaited<ReturnType<typeof startFakeServer>>
let [slipway, platform]: FakeServer[] = []
let routes: Record<string, RouteHandler>
let issued: number

beforeEach(async () => {
  issued = 0
  routes = {
    'POST /auth/token': (_, response) => sendJson(response, 200, { access_token: 'access', expires_in: 900 }),
    'GET /auth/me': (request, response) =>
      sendJson(response, request.headers.authorization === 'Bearer access' ? 200 : 401, {
        username: 'ci',
        email: null,
        roles: [],
        permissions: [],
      }),
    'GET /actions/runner': (_, response) => sendJson(response, 200, { value: `id-${++issued}` }),
  }
  slipway = await startFakeServer(routes)
  platform = await startFakeServer(routes)
})
afterEach(async () => {
  await slipway?.close()
  await platform?.close()
})

const KEY = `svc_${'x'.repeat(49)}`
const run = (args: readonly string[], env: Record<string, string | undefined>) =>
  runSlipway(String(slipway?.url), args, { env: { SLIPWAY_TOKEN: '', SLIPWAY_SERVICE_ACCOUNT: 'ci', ...env } })

const github = () => ({
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: `${platform?.url}/actions/runner?api-version=2`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret of the job',
})

const getExchanged = () =>
  slipway?.requests.filter(({ route }) => route === 'POST /auth/token').map(({ body }) => body as object)

describe('in GitHub Actions', () => {
  test('the ID token is fetched for the address of the server, and exchanged', async () => {
    expect(await run(['whoami'], github())).toMatchObject({ code: 0, stdout: expect.stringContaining('ci') })
    const [asked] = platform?.requests ?? []
    expect(asked?.authorization).toBe('Bearer secret of the job')
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({ 'api-version': '2', audience: slipway?.url })
    expect(getExchanged()).toEqual([expect.objectContaining({ subject_token: 'id-1', service_account: 'ci' })])
  })

  test('SLIPWAY_TOKEN_AUDIENCE names another audience', async () => {
    await run(['whoami'], { ...github(), SLIPWAY_TOKEN_AUDIENCE: 'slipway' })
    expect(platform?.requests[0]?.query.get('audience')).toBe('slipway')
  })

  test('the permission of the job is named if it is missing', async () => {
    const missing = await run(['whoami'], { GITHUB_ACTIONS: 'true' })
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('permissions: id-token: write') })
    routes['GET /actions/runner'] = (_, response) => sendJson(response, 403, { message: 'secret of the job' })
    const { code, stderr } = await run(['whoami'], github())
    expect([code, stderr]).toEqual([3, expect.stringContaining('permissions: id-token: write')])
    expect(stderr).not.toContain('secret')
  })

  test('a failure of GitHub is tried again, and exits with 6', async () => {
    routes['GET /actions/runner'] = (_, response) => sendJson(response, 500, {})
    const { code, stderr } = await run(['whoami'], github())
    expect([code, stderr]).toEqual([6, expect.stringContaining('GitHub does not give an ID token')])
    expect(platform?.requests).toHaveLength(3)
  })
})

describe('with SLIPWAY_ID_TOKEN', () => {
  test('it is exchanged', async () => {
    expect(await run(['whoami'], { SLIPWAY_ID_TOKEN: 'given' })).toMatchObject({ code: 0 })
    expect(getExchanged()).toEqual([expect.objectContaining({ subject_token: 'given' })])
  })

  test.each([
    ['of the ID token', { SLIPWAY_ID_TOKEN: 'given' }, 'start slipway again with a new ID token'],
    ['of an access token from slipway token', { SLIPWAY_TOKEN: 'access' }, 'TOKEN_EXPIRED'],
  ])('the end %s exits with 5, and the deployment goes on', async (_, env, message) => {
    const action = { id: ID, name: 'Greet', sqid: 'abcdefgh' }
    routes['GET /solutions'] = (_, response) => sendJson(response, 200, { data: [], meta: {} })
    routes['GET /sequences'] = routes['GET /solutions']
    routes['GET /actions'] = (_, response) => sendJson(response, 200, { data: [action], meta: {} })
    routes['POST /deployments'] = (_, response) =>
      sendJson(response, 201, { deployment_id: ID, deployment: { config: {} }, warnings: [] })
    routes[`GET /deployments/${ID}`] = refuse(401, 'TOKEN_EXPIRED')
    const { code, stderr } = await run(['deploy', 'Greet', '--tag', 'a=b', '--wait'], env)
    expect(stderr).toContain(message)
    expect(stderr).toContain(`deployment ${ID} goes on`)
    expect(code).toBe(5)
  })
})

test('an ID token that is not accepted exits with 3, and the error says where the reason is', async () => {
  routes['POST /auth/token'] = refuse(401, 'INVALID_TOKEN')
  const { code, stderr } = await run(['whoami'], { SLIPWAY_ID_TOKEN: 'given' })
  expect([code, stderr]).toEqual([3, expect.stringContaining('slipway audit --action auth.token_exchange')])
})

test('slipway token prints an access token for several commands', async () => {
  expect(await run(['token'], { SLIPWAY_ID_TOKEN: 'given' })).toEqual({ code: 0, stdout: 'access\n', stderr: '' })
  expect(await run(['token'], { SLIPWAY_API_KEY: KEY })).toMatchObject({ code: 2 })
})

test('without a source of ID tokens, the variable is named', async () => {
  const { code, stderr } = await run(['whoami'], {})
  expect([code, stderr]).toEqual([2, expect.stringContaining('set SLIPWAY_ID_TOKEN')])
})

test('a token or an API key goes before the service account', async () => {
  await run(['whoami'], { ...github(), SLIPWAY_API_KEY: KEY })
  expect(getExchanged()).toEqual([])
})

test.each([[['context', 'list']], [['completion', 'bash']], [['complete', '--', 'targets', 'show', '']]])(
  '%j exchanges nothing',
  async (args) => {
    expect(await run(args, { SLIPWAY_ID_TOKEN: 'given' })).toMatchObject({ code: 0, stderr: '' })
    expect(slipway?.requests).toEqual([])
  },
)
