import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTargets,
  deploymentEnd,
  logHistory,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

// These tests stop a shared server, so `make test` runs this folder alone, after all other tests.

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})

afterAll(() => suite.stop(), 60_000)

const restart = (server: string) =>
  execFileSync('bash', ['scripts/infra.sh', 'restart', server], { cwd: repositoryRoot })

test('after a restart of RabbitMQ during a deployment, the deployment succeeds and new ones are accepted', async () => {
  const action_id = await createAction(api, { script: 'for i in 1 2 3 4 5 6; do echo "$i"; sleep 0.5; done' })
  const target_ids = await createLocalTargets(api, 2)
  const { body } = await api.post('/deployments', { action_id, target_ids })
  await waitFor(async () => (await logHistory(api, body.deployment_id)).length > 2)

  restart('rabbitmq')

  expect(await deploymentEnd(api, body.deployment_id, 60_000)).toMatchObject({ state: 'success', completed_steps: 2 })
  expect(await logHistory(api, body.deployment_id)).toHaveLength(12)
  await waitFor(async () => (await api.get('/health/ready')).status === 200, { what: 'readiness' })
  const next = await waitFor(
    async () => {
      const answer = await api.post('/deployments', { action_id: await createAction(api), target_ids })
      return answer.status === 201 ? answer : null
    },
    { timeoutMs: 60_000, what: 'a new deployment to start' },
  )
  expect((await deploymentEnd(api, next.body.deployment_id)).state).toBe('success')
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})

test('after a restart of RabbitMQ each create gets 503 or 201, and only the 201 has created a deployment', async () => {
  const action_id = await createAction(api)
  const target_ids = await createLocalTargets(api, 1)
  const before = (await api.get('/deployments')).body.meta.total
  const restarted = new Promise<void>((resolve, reject) => {
    setTimeout(() => {
      try {
        restart('rabbitmq')
        resolve()
      } catch (error) {
        reject(error)
      }
    }, 0)
  })
  await restarted
  // The services reconnect after some time. Until then every create must get 503.
  let created = 0
  await waitFor(
    async () => {
      const answer = await api.post('/deployments', { action_id, target_ids })
      if (answer.status === 201) created += 1
      else expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
      return answer.status === 201
    },
    { timeoutMs: 60_000 },
  )
  expect((await api.get('/deployments')).body.meta.total).toBe(before + created)
})
