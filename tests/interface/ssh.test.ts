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
  waitFor,
} from '@slipway/testing'

let sshd: Sshd
let suite: Suite
let api: Api

beforeAll(async () => {
  sshd = await startSshd()
  suite = await startSuite()
  api = await loginToSuite(suite)
})

afterAll(async () => {
  await suite.stop()
  await sshd.stop()
})

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

test('a command runs on an ssh target with a private key that is never shown, and the host key is pinned', async () => {
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
})

test('a refused key and a closed port fail with their reasons, which the target shows too', async () => {
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

  const { body: shown } = await api.get(`/targets/${closed.id}`)
  expect(shown).toMatchObject({
    status: 'offline',
    last_seen_at: null,
    last_error: expect.stringMatching(/^connection refused by 127\.0\.0\.1:1/),
    unreachable_since: expect.any(String),
  })
  const listed = (await api.get('/targets?status=offline')).body.data
  expect(listed.find(({ id }: { id: string }) => id === closed.id)).toEqual(shown)
})

test('a command result has the exit code, the duration and the masked output tails of the last attempt', async () => {
  const target = await createSshTarget({ private_key: sshd.privateKey })
  const action_id = await createAction(api, {
    script: `echo "try $SLIPWAY_ATTEMPT {{ token }}"; i=0; while [ $i -lt 300 ]; do echo "line $i of many"; i=$((i+1)); done
             printf 'bad \\377 end {{ token }}' >&2; exit 3`,
    max_retries: 1,
    variables: [{ name: 'token', sensitive: true }],
  })
  const { body } = await api.post('/deployments', {
    action_id,
    target_ids: [target.id],
    variables: { token: 'planted-secret' },
  })
  const ended = await deploymentEnd(api, body.deployment_id)
  expect(ended.plan.steps[0]).toMatchObject({
    state: 'failed',
    exit_code: 3,
    error_message: 'exit code 3',
    retry_count: 1,
  })
  const [result] = (await api.get(`/deployments/${body.deployment_id}/analysis`)).body
  expect(result).toMatchObject({ status: 'failed', exit_code: 3, stderr_tail: 'bad \ufffd end ***' })
  expect(result.stdout_tail).toHaveLength(2_000)
  expect(result.stdout_tail).toMatch(/line 299 of many$/)
  expect(result.duration_ms).toBeGreaterThanOrEqual(0)

  const slow = await createAction(api, { script: 'sleep 600', timeout_seconds: 1 })
  const late = await api.post('/deployments', { action_id: slow, target_ids: [target.id] })
  const { plan } = await deploymentEnd(api, late.body.deployment_id)
  expect(plan.steps[0]).toMatchObject({ exit_code: null, error_message: 'killed after 1 s (timeout_seconds)' })
})

test('an ssh target becomes online by a probe without any deployment, with its host key pinned', async () => {
  const target = await createSshTarget({ private_key: sshd.privateKey })
  const seen = await waitFor(
    async () => {
      const { body } = await api.get(`/targets/${target.id}`)
      return body.status === 'online' ? body : null
    },
    { what: 'the target to be online' },
  )
  expect(seen.connection.host_key).toMatch(/^ssh-ed25519 /)
})
