import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Sshd,
  type Suite,
  startSshd,
  startSuite,
} from '@slipway/testing'

let sshd: Sshd
let suite: Suite
let api: Api

beforeAll(async () => {
  sshd = await startSshd()
  suite = await startSuite()
  api = await loginToSuite(suite)
}, 90_000)

afterAll(async () => {
  await suite.stop()
  await sshd.stop()
}, 60_000)

let count = 0
const createSshTarget = async (connection: Record<string, unknown>) => {
  count += 1
  const { status, body } = await api.post('/targets', {
    name: `ssh-${count}`,
    connection: { type: 'ssh', host: '127.0.0.1', port: sshd.port, username: sshd.username, ...connection },
  })
  expect(status).toBe(201)
  return body
}

test('a command runs on an SSH target by key; the key is never shown and the host key is pinned', async () => {
  const target = await createSshTarget({ private_key: sshd.privateKey })
  expect(target.connection).toEqual({ type: 'ssh', host: '127.0.0.1', port: sshd.port, username: sshd.username })
  const action_id = await createAction(api, {
    script: 'echo "over ssh: $SLIPWAY_VAR_WHAT {{ what }}"; test -n "$SSH_CONNECTION" && echo remote',
  })
  const request = { action_id, target_ids: [target.id], variables: { what: `it's; $(id) "quoted"` } }
  const { body } = await api.post('/deployments', request)
  expect(await deploymentEnd(api, body.deployment_id)).toMatchObject({ state: 'success', error_message: null })
  const messages = (await logHistory(api, body.deployment_id)).map((line) => line.message)
  expect(messages[0]).toContain(`over ssh: it's; $(id) "quoted"`)
  expect((await api.get(`/targets/${target.id}`)).body).toMatchObject({ status: 'online' })

  await sshd.changeHostKey()
  const again = await api.post('/deployments', request)
  const refused = await deploymentEnd(api, again.body.deployment_id)
  expect(refused.state).toBe('failed')
  expect(refused.plan.steps[0].error_message).toContain('host key')
}, 60_000)

test('a refused key and a closed port are failures that say what to look at', async () => {
  const action_id = await createAction(api)
  const wrongKey = await createSshTarget({ private_key: sshd.strangersKey })
  const closed = await createSshTarget({ private_key: sshd.privateKey, port: 1 })
  const { body } = await api.post('/deployments', {
    action_id,
    target_ids: [wrongKey.id, closed.id],
    target_mode: 'parallel',
    failure_strategy: 'continue_on_failure',
  })
  const ended = await deploymentEnd(api, body.deployment_id)
  expect(ended.state).toBe('failed')
  const [first, second] = ended.plan.steps.map((step: { error_message: string }) => step.error_message)
  expect(first).toMatch(/authentication failed/i)
  expect(second).toMatch(/connection refused by 127\.0\.0\.1:1/)
}, 60_000)
