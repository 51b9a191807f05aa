import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createSequence,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Suite,
  startSuite,
} from '@slipway/testing'

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})

afterAll(() => suite.stop())

async function createTarget(name: string, simulation: object, tag: string): Promise<string> {
  const { status, body } = await api.post('/targets', {
    name,
    connection: { type: 'simulated', ...simulation },
    tags: [{ key: 'rehearsal', value: tag }],
  })
  expect(status).toBe(201)
  return body.id
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const failedOf = (body: { plan: { steps: { target_name: string; exit_code: number | null }[] } }) =>
  body.plan.steps.filter(({ exit_code }) => exit_code === 4).map(({ target_name }) => target_name)

test('a deployment to simulated targets fails and rolls back, and a redeploy fails on the same targets', async () => {
  const simulation = { failure_rate: 0.3, exit_code: 4, output_lines: 2 }
  for (const n of numbers(60)) await createTarget(`sim-${n}`, simulation, 'all')
  const action = await createAction(api, { script: 'rm -rf /', rollback: 'exit 1' })
  const request = {
    sequence_id: await createSequence(api, [action, action]),
    target_tags: [{ key: 'rehearsal', value: 'all' }],
    target_mode: { rolling: { batch_size: 20 } },
    failure_strategy: 'continue_on_failure',
    rollback_strategy: 'failed_target_only',
  }
  const first = await api.post('/deployments', request)
  expect([first.status, first.body.error]).toEqual([201, undefined])
  const ended = await deploymentEnd(api, first.body.deployment_id)
  expect(ended).toMatchObject({ state: 'rolled_back', total_steps: 120 })
  const failed = failedOf(ended)
  expect(failed.length).toBeGreaterThan(5)
  expect(failed.length).toBeLessThan(60)
  for (const { target_name, state } of ended.plan.steps) {
    expect(state).toMatch(failed.includes(target_name) ? /^(rolled_back|skipped)$/ : /^completed$/)
  }
  for (const { message } of await logHistory(api, first.body.deployment_id)) expect(message).toContain('simulated')

  const second = await api.post(`/deployments/${first.body.deployment_id}/redeploy`)
  expect([second.status, second.body.error]).toEqual([201, undefined])
  expect(failedOf(await deploymentEnd(api, second.body.id))).toEqual(failed)
})

test('a simulated timeout and a simulated lost connection fail with their reasons', async () => {
  const slow = await createTarget('slow', { duration_ms: 60_000 }, 'odd')
  const dropped = await createTarget('dropped', { drop_rate: 1 }, 'odd')
  const action_id = await createAction(api, { timeout_seconds: 1 })
  const { body } = await api.post('/deployments', {
    action_id,
    target_ids: [slow, dropped],
    target_mode: 'parallel',
    failure_strategy: 'continue_on_failure',
  })
  const ended = await deploymentEnd(api, body.deployment_id)
  expect(ended.state).toBe('failed')
  expect(ended.plan.steps.map(({ error_message }: { error_message: string }) => error_message)).toEqual([
    'killed after 1 s (timeout_seconds)',
    'connection was lost while the command ran',
  ])
  expect(await Promise.all([slow, dropped].map(async (id) => (await api.get(`/targets/${id}`)).body.status))).toEqual([
    'online',
    'online',
  ])
})
