import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type AgentProcess,
  type Api,
  createAction,
  deploymentEnd,
  enrolAgent,
  logHistory,
  loginToSuite,
  type Suite,
  startAgent,
  startSuite,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let api: Api
let agent: AgentProcess
let target: string
let token: string

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const { body } = await api.post('/targets', { name: 'db-1', connection: { type: 'agent' } })
  target = body.id
})
afterEach(() => suite.restore())

afterAll(async () => {
  await suite?.stop()
  await agent?.remove()
})

const deploy = async (definition: object, fields: object = {}) => {
  const action_id = await createAction(api, definition)
  const { body } = await api.post('/deployments', { action_id, target_ids: [target], ...fields })
  return body.deployment_id as string
}
const ended = async (definition: object, fields: object = {}) => {
  const id = await deploy(definition, fields)
  const end = await deploymentEnd(api, id)
  return { ...end, lines: (await logHistory(api, id)).map(({ message }) => message) }
}

/** Whether a process with this text in its environment is alive. */
const lives = (mark: string) =>
  readdirSync('/proc').some((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })

test('a target without an agent is offline and its steps fail', async () => {
  expect((await api.get(`/targets/${target}`)).body).toMatchObject({
    connection: { type: 'agent' },
    status: 'offline',
    last_seen_at: null,
  })
  expect((await api.get(`/targets/${target}/agent`)).status).toBe(404)
  expect((await ended({ script: 'true' })).plan.steps[0].error_message).toBe('no agent is enrolled for db-1')
})

test('an agent enrols with a token that is valid once, and its target is online', async () => {
  const answer = await api.post(`/targets/${target}/agent-token`)
  expect(answer.status).toBe(201)
  token = answer.body.token
  agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token })
  expect((await api.get(`/targets/${target}`)).body.status).toBe('online')
  expect((await api.get(`/targets/${target}/agent`)).body).toMatchObject({
    host: '127.0.0.1',
    port: agent.port,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  })
  const again = await enrolAgent({ bridgeUrl: suite.bridgeUrl, token }, agent)
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('The token is not valid: it was used')
})

test('a deployment runs on an agent with files, masked secrets and the exit code of a failure', async () => {
  const { body: content } = await api.post('/content', 'from the store')
  const success = await ended(
    {
      script: 'cat conf/file; echo; echo "secret: $SLIPWAY_VAR_PASSWORD"; echo wrong >&2',
      files: [{ content: content.id, path: 'conf/file' }],
      variables: [{ name: 'password', sensitive: true }],
    },
    { variables: { password: 'hush-hush-42' } },
  )
  expect(success.state).toBe('success')
  expect([...success.lines].sort()).toEqual(['from the store', 'secret: ***', 'wrong'])
  const failure = await ended({ script: 'exit 7' })
  expect(failure.plan.steps[0]).toMatchObject({ state: 'failed', exit_code: 7, error_message: 'exit code 7' })
})

test('a timeout and a cancel leave no process of the command, not even grandchildren', async () => {
  const script = 'sh -c "sh -c \\"sleep 600\\" & wait" & wait'
  const [one, two] = [randomUUID(), randomUUID()]
  const late = await ended({ script, env: { MARK: one }, timeout_seconds: 1 })
  expect(late.plan.steps[0].error_message).toContain('killed after 1 s (timeout_seconds)')
  expect(lives(one)).toBe(false)
  const id = await deploy({ script, env: { MARK: two } })
  await waitFor(() => lives(two), { what: 'the command to run' })
  expect((await api.post(`/deployments/${id}/cancel`, {})).status).toBe(200)
  expect((await deploymentEnd(api, id)).state).toBe('cancelled')
  await waitFor(() => !lives(two), { what: 'the command to end' })
})

test('a killed agent fails the running attempt; a stopped agent fails steps with its address in the error', async () => {
  const script = 'echo begun; test "$SLIPWAY_ATTEMPT" = 1 || sleep 600'
  const id = await deploy({ script, max_retries: 1 })
  await waitFor(async () => (await logHistory(api, id)).length > 0, { what: 'the command to run' })
  await agent.end('SIGKILL')
  await agent.start()
  expect((await deploymentEnd(api, id)).state).toBe('success')
  const lines = (await logHistory(api, id)).map(({ message }) => message)
  expect(lines.filter((line) => line === 'begun')).toHaveLength(2)
  expect(lines.some((line) => line.includes('the agent was restarted while the command ran'))).toBe(true)
  await agent.end('SIGTERM')
  const away = await ended({ script: 'true' }).finally(() => agent.start())
  expect(away.plan.steps[0].error_message).toBe(`the agent on db-1 (127.0.0.1:${agent.port}) refused the connection`)
  expect((await api.get(`/deployments/${away.id}/analysis`)).body).toMatchObject([
    { failure_reason: 'target_refused', analysis: { fingerprint: 'target-refused' } },
  ])
  expect((await ended({ script: 'true' })).state).toBe('success')
})

test('after an instance is killed, its command does not run beside the next attempt', async () => {
  const mark = randomUUID()
  const script = 'test "$SLIPWAY_ATTEMPT" = 1 && exec echo again; sleep 600'
  const id = await deploy({ script, env: { MARK: mark }, max_retries: 1 })
  await waitFor(() => lives(mark), { what: 'the command to run' })
  await suite.kill('orchestration-instance')
  await suite.start('orchestration-instance')
  expect((await deploymentEnd(api, id)).state).toBe('success')
  expect(lives(mark)).toBe(false)
})

test('after an instance is killed, its command without further attempts is killed', async () => {
  const mark = randomUUID()
  const id = await deploy({ script: 'sleep 600', env: { MARK: mark } })
  await waitFor(() => lives(mark), { what: 'the command to run' })
  await suite.kill('orchestration-instance')
  await suite.start('orchestration-instance')
  expect((await deploymentEnd(api, id)).state).toBe('failed')
  await waitFor(() => !lives(mark), { what: 'the command to end' })
})

test('agent tokens become invalid when the agent is revoked or the target gets another connection', async () => {
  const { body } = await api.post(`/targets/${target}/agent-token`)
  expect((await api.call('DELETE', `/targets/${target}/agent`)).status).toBe(204)
  expect((await api.call('DELETE', `/targets/${target}/agent`)).status).toBe(404)
  expect((await api.get(`/targets/${target}`)).body.status).toBe('offline')
  const late = await enrolAgent({ bridgeUrl: suite.bridgeUrl, token: body.token }, agent)
  expect(late.stderr).toContain('The token is not valid')
  expect((await ended({ script: 'true' })).plan.steps[0].error_message).toBe('no agent is enrolled for db-1')
  const other = await api.post(`/targets/${target}/agent-token`)
  await api.call('PATCH', `/targets/${target}`, { connection: { type: 'local' } })
  expect((await api.post(`/targets/${target}/agent-token`)).status).toBe(409)
  const elsewhere = await enrolAgent({ bridgeUrl: suite.bridgeUrl, token: other.body.token }, agent)
  expect(elsewhere.stderr).toContain('The token is not valid')
})
