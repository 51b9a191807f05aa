import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  apiWithToken,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  openLogStream,
  type Suite,
  startSuite,
} from '@slipway/testing'

let suite: Suite
let api: Api
let deploymentId: string

beforeAll(async () => {
  suite = await startSuite({ capacity: 1 })
  api = await loginToSuite(suite)
  const action_id = await createAction(api, { script: 'echo begun; sleep 600' })
  const { body } = await api.post('/deployments', { action_id, target_ids: [await createLocalTarget(api)] })
  deploymentId = body.deployment_id
})

afterAll(async () => {
  try {
    const admin = await loginToSuite(suite)
    await admin.post(`/deployments/${deploymentId}/cancel`, {})
    await deploymentEnd(admin, deploymentId)
  } finally {
    await suite.stop()
  }
})

/** Reads a stream until it ends or breaks off, and expects that it did not report the end of the deployment. */
async function untilCutOff(response: Response): Promise<void> {
  expect(response.status).toBe(200)
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
  } catch {
    // A revoked stream may break off.
  }
  expect(text).toContain('"event":"ping"')
  expect(text).not.toContain('"log_lines"')
}

const me = async (one: Api) => (await one.get('/auth/me')).status

test('a logout ends the tokens and the open streams of the user, and leaves API keys valid', async () => {
  const made = await api.post('/auth/api-keys', { name: 'pipeline' })
  expect(made.status).toBe(201)
  const key = apiWithToken(suite.url, made.body.full_key)
  const streams = [await openLogStream(suite, api, deploymentId), await openLogStream(suite, key, deploymentId)]
  const cutOff = Promise.all(streams.map(untilCutOff))
  const unused = (await api.post('/auth/sse-token', {})).body.sse_token as string

  expect((await api.post('/auth/logout')).status).toBe(200)
  expect([await me(api), await me(key)]).toEqual([401, 200])
  await cutOff
  const late = await fetch(`${suite.url}/api/v1/deployments/${deploymentId}/logs?sse_token=${unused}`)
  expect([late.status, ((await late.json()) as { error: { code: string } }).error.code]).toEqual([401, 'INVALID_TOKEN'])
  api = await loginToSuite(suite)
})

test('a deleted API key is refused in the next request, and its streams end', async () => {
  const made = await api.post('/auth/api-keys', { name: 'short-lived', scopes: ['deployments:read'] })
  const key = apiWithToken(suite.url, made.body.full_key)
  const ofLogin = await openLogStream(suite, api, deploymentId)
  const cutOff = untilCutOff(await openLogStream(suite, key, deploymentId))
  expect((await api.call('DELETE', `/auth/api-keys/${made.body.api_key.id}`)).status).toBe(200)
  expect(await key.get('/auth/me')).toMatchObject({ status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  await cutOff
  const reader = ofLogin.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
})

test('a refresh cookie works over plain HTTP, and its token is in no log', async () => {
  const login = await fetch(`${suite.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(suite.admin),
  })
  const cookie = login.headers.getSetCookie()[0] ?? ''
  expect(cookie).not.toContain('Secure')
  const pair = cookie.split(';')[0] ?? ''
  const refreshed = await fetch(`${suite.url}/api/v1/auth/refresh`, { method: 'POST', headers: { cookie: pair } })
  expect(refreshed.status).toBe(200)
  const { access_token } = (await refreshed.json()) as { access_token: string }
  expect(await me(apiWithToken(suite.url, access_token))).toBe(200)
  const log = suite.logOf('gateway')
  for (const secret of [pair.split('=')[1] ?? '', access_token, suite.admin.password]) expect(log).not.toContain(secret)
})
