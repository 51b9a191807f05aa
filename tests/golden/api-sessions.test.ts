// Who may do what, and when access ends: roles, API keys, tenants and logouts, with open streams.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  apiWithToken,
  createAction,
  createGate,
  deploymentEnd,
  loginToSuite,
  openLogStream,
  openTenant,
  type TestTenant,
} from '@slipway/testing'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-golden-'))
const gate = createGate({ folder })
let tenant: TestTenant
let other: TestTenant
let running: string

beforeAll(async () => {
  ;[tenant, other] = await Promise.all([openTenant(), openTenant()])
  const action_id = await createAction(tenant.api, { script: `echo begun; ${gate.script}` })
  const { body } = await tenant.api.post('/deployments', { action_id, target_ids: [await tenant.createLocalTarget()] })
  running = body.deployment_id
})
afterAll(async () => {
  gate.open()
  await deploymentEnd(await loginToSuite({ url: tenant.suite.url, admin: tenant.account }), running)
  fs.rmSync(folder, { recursive: true })
})

const me = async (api: Api) => (await api.get('/auth/me')).status

/** Reads a stream until it ends or breaks off. Expects that it began, and did not report the end of the deployment. */
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

test('another tenant sees nothing of a deployment', async () => {
  expect((await other.api.get('/deployments')).body.data).toEqual([])
  for (const path of ['', '/logs/history', '/analysis']) {
    expect((await other.api.get(`/deployments/${running}${path}`)).status).toBe(404)
  }
  expect((await other.api.post(`/deployments/${running}/cancel`, {})).status).toBe(404)
})

test('an API key has its scopes, and ends with its streams when it is deleted', async () => {
  const made = await tenant.api.post('/auth/api-keys', { name: 'reader', scopes: ['deployments:read'] })
  const key = apiWithToken(tenant.suite.url, made.body.full_key)
  expect((await key.get(`/deployments/${running}`)).status).toBe(200)
  expect(await key.post(`/deployments/${running}/cancel`, {})).toMatchObject({
    status: 403,
    body: { error: { code: 'INSUFFICIENT_PERMISSIONS' } },
  })
  const cutOff = untilCutOff(await openLogStream(tenant.suite, key, running))
  expect((await tenant.api.call('DELETE', `/auth/api-keys/${made.body.api_key.id}`)).status).toBe(200)
  expect(await me(key)).toBe(401)
  await cutOff
})

test('a logout ends the tokens and the open streams of the user, and leaves API keys valid', async () => {
  const { api, suite } = tenant
  const made = await api.post('/auth/api-keys', { name: 'pipeline' })
  const key = apiWithToken(suite.url, made.body.full_key)
  const cutOff = Promise.all(
    [await openLogStream(suite, api, running), await openLogStream(suite, key, running)].map(untilCutOff),
  )
  const unused = (await api.post('/auth/sse-token', {})).body.sse_token
  expect((await api.post('/auth/logout')).status).toBe(200)
  expect([await me(api), await me(key)]).toEqual([401, 200])
  await cutOff
  const late = await fetch(`${suite.url}/api/v1/deployments/${running}/logs?sse_token=${unused}`)
  expect([late.status, await late.json()]).toMatchObject([401, { error: { code: 'INVALID_TOKEN' } }])
})
