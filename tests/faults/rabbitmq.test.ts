import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTargets,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'
import { RabbitMq } from '../campaign/servers/rabbitmq.ts'

let rabbitMq: RabbitMq
let suite: Suite
let api: Api

beforeAll(async () => {
  rabbitMq = await RabbitMq.start()
  suite = await startSuite({ env: { RABBITMQ_URL: rabbitMq.url } })
  api = await loginToSuite(suite)
})

afterAll(async () => {
  await suite?.stop()
  await rabbitMq?.stop()
})

/** Kills RabbitMQ and starts it with its messages. */
const restart = () => rabbitMq.restart({ empty: false })

test('after a restart of RabbitMQ during a deployment, the deployment succeeds and new ones are accepted', async () => {
  const action_id = await createAction(api, { script: 'for i in 1 2 3 4 5 6; do echo "$i"; sleep 0.5; done' })
  const target_ids = await createLocalTargets(api, 2)
  const { body } = await api.post('/deployments', { action_id, target_ids })
  await waitFor(async () => (await logHistory(api, body.deployment_id)).length > 2)

  await restart()

  expect(await deploymentEnd(api, body.deployment_id)).toMatchObject({ state: 'success', completed_steps: 2 })
  expect(await logHistory(api, body.deployment_id)).toHaveLength(12)
  await waitFor(async () => (await api.get('/health/ready')).status === 200, { what: 'readiness' })
  const next = await waitFor(
    async () => {
      const answer = await api.post('/deployments', { action_id: await createAction(api), target_ids })
      return answer.status === 201 ? answer : null
    },
    { what: 'a new deployment to start' },
  )
  expect((await deploymentEnd(api, next.body.deployment_id)).state).toBe('success')
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})

test('after a restart of RabbitMQ each create gets 503 or 201, and only the 201 has created a deployment', async () => {
  const action_id = await createAction(api)
  const target_ids = await createLocalTargets(api, 1)
  const before = (await api.get('/deployments')).body.meta.total
  const statuses: number[] = []
  const create = async () => {
    const { status, body } = await api.post('/deployments', { action_id, target_ids })
    if (status !== 201) expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    statuses.push(status)
    return status
  }

  let isRestarting = true
  const restarting = restart().finally(() => {
    isRestarting = false
  })
  // A create that was published before the connection broke waits for its answer. Only one that comes later gets 503.
  const creates: Promise<number>[] = []
  while (isRestarting) {
    creates.push(create())
    await setTimeout(100)
  }
  await restarting
  await Promise.all(creates)
  // The services reconnect after some time.
  await waitFor(async () => (await create()) === 201, { what: 'a create after the restart' })
  expect(statuses).toContain(503)
  const created = statuses.filter((status) => status === 201).length
  expect((await api.get('/deployments')).body.meta.total).toBe(before + created)
})
