import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type AgentProcess,
  type Api,
  createAction,
  deploymentEnd,
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

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const { body } = await api.post('/targets', { name: 'db-1', connection: { type: 'agent' } })
  target = body.id
  const { body: granted } = await api.post(`/targets/${target}/agent-token`)
  agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token: granted.token })
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

test('a killed agent fails the running attempt; a stopped agent fails steps with its address in the error', async () => {
  const script = 'echo begun; test "$SLIPWAY_ATTEMPT" = 2 || sleep 600'
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
  const script = 'test "$SLIPWAY_ATTEMPT" = 2 && exec echo again; sleep 600'
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
