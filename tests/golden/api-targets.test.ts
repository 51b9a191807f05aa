// The same commands on a target over SSH and on one with an agent.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type AgentProcess,
  createAction,
  deploymentEnd,
  enrolAgent,
  logHistory,
  openTenant,
  type Sshd,
  startAgent,
  startSshd,
  type TestTenant,
  waitFor,
} from '@slipway/testing'

const SECRET = 'hush-hush-42'
let tenant: TestTenant
let sshd: Sshd
let agent: AgentProcess | undefined

beforeAll(async () => {
  ;[tenant, sshd] = await Promise.all([openTenant(), startSshd()])
})
afterAll(async () => {
  await sshd?.stop()
  await agent?.remove()
})

/** Deploys a file from the store, a secret and a line on stderr. */
async function expectToRunOn(target: string): Promise<void> {
  const { api } = tenant
  const { body: content } = await api.post('/content', 'from the store')
  const action_id = await createAction(api, {
    script: 'cat conf/file; echo; echo "secret: $SLIPWAY_VAR_PASSWORD"; echo wrong >&2',
    files: [{ content: content.id, path: 'conf/file' }],
    variables: [{ name: 'password', sensitive: true }],
  })
  const variables = { password: SECRET }
  const { body } = await api.post('/deployments', { action_id, target_ids: [target], variables })
  expect(await deploymentEnd(api, body.deployment_id)).toMatchObject({ state: 'success' })
  const lines = (await logHistory(api, body.deployment_id)).map(({ message }) => message)
  expect(lines.sort()).toEqual(['from the store', 'secret: ***', 'wrong'])
}

test('a target over SSH is probed, its host key is pinned, and its private key is never shown', async () => {
  const { api } = tenant
  const connection = { type: 'ssh', host: '127.0.0.1', port: sshd.port, username: sshd.username }
  const created = await api.post('/targets', {
    name: 'ssh',
    connection: { ...connection, private_key: sshd.privateKey },
  })
  expect(created).toMatchObject({ status: 201, body: { connection } })
  const online = await waitFor(
    async () => {
      const { body } = await api.get(`/targets/${created.body.id}`)
      return body.status === 'online' ? body : null
    },
    { what: 'the probe' },
  )
  expect(online.connection).toEqual({ ...connection, host_key: expect.stringMatching(/^ssh-ed25519 /) })
  await expectToRunOn(created.body.id)

  await sshd.changeHostKey()
  const { body } = await api.post('/deployments', { action_id: await createAction(api), target_ids: [created.body.id] })
  const refused = await deploymentEnd(api, body.deployment_id)
  expect(refused.plan.steps[0]).toMatchObject({ state: 'failed', error_message: expect.stringContaining('host key') })
})

test('an agent enrols with a token that is valid once, and runs commands', async () => {
  const { api, suite } = tenant
  const created = await api.post('/targets', { name: 'agent', connection: { type: 'agent' } })
  const { body } = await api.post(`/targets/${created.body.id}/agent-token`)
  agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token: body.token })
  expect((await api.get(`/targets/${created.body.id}`)).body.status).toBe('online')
  await expectToRunOn(created.body.id)

  const again = await enrolAgent({ bridgeUrl: suite.bridgeUrl, token: body.token }, agent)
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('The token is not valid: it was used') })
})
