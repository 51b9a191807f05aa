import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createGate,
  createLocalTarget,
  deploymentEnd,
  expectedSignature,
  loginToSuite,
  type Receiver,
  type Suite,
  startReceiver,
  startSuite,
  waitFor,
  wipeBroker,
} from '@slipway/testing'

let suite: Suite
let api: Api
let database: Awaited<ReturnType<typeof connectTo>>
let receiver: Receiver

beforeAll(async () => {
  suite = await startSuite({ env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  api = await loginToSuite(suite)
  database = await connectTo(suite.databaseUrl)
})

beforeEach(async () => {
  receiver = await startReceiver()
})

afterEach(() => receiver.close())

afterEach(() => suite.restore())

afterAll(async () => {
  await database.end()
  await suite.stop()
})

async function addWebhook(events: string[]): Promise<{ id: string; secret: string }> {
  const { status, body } = await api.post('/webhooks', { url: receiver.url, events })
  expect(status).toBe(201)
  return body
}

const deliveries = async (id: string) => (await api.get(`/webhooks/${id}/deliveries`)).body.data

test('after kill -9 of the dispatcher during a call, the delivery is repeated with the same id', async () => {
  const { id, secret } = await addWebhook(['target.created'])
  receiver.answer = null
  await createLocalTarget(api)
  await waitFor(() => receiver.received.length === 1, { what: 'the first call' })
  await suite.kill('dispatcher')
  expect(await deliveries(id)).toMatchObject([{ status: 'pending', attempts: 1, response_status: null }])
  receiver.answer = () => ({ status: 200, body: 'thanks' })
  await suite.start('dispatcher')
  // The claim of the killed dispatcher expires.
  await database.query('UPDATE webhook_deliveries SET next_attempt_at = now() WHERE claim IS NOT NULL')
  await waitFor(async () => (await deliveries(id))[0]?.status === 'delivered', { what: 'the delivery' })
  expect(await deliveries(id)).toMatchObject([{ attempts: 2, response_status: 200, response_body: 'thanks' }])
  const [first, second] = receiver.received
  expect(receiver.received).toHaveLength(2)
  expect({ id: second?.id, body: second?.body }).toEqual({ id: first?.id, body: first?.body })
  expect(second && second.signature === expectedSignature(secret, second)).toBe(true)
})

test('events are delivered although RabbitMQ loses them while no dispatcher runs', async () => {
  const { id, secret } = await addWebhook(['target.created', 'deployment.finished'])
  const gate = createGate(suite)
  const action_id = await createAction(api, { script: gate.script })
  const first = await createLocalTarget(api)
  const { body } = await api.post('/deployments', { action_id, target_ids: [first] })
  await waitFor(() => receiver.received.length === 1, { what: 'the first delivery' })
  await suite.kill('dispatcher')
  const second = await createLocalTarget(api)
  gate.open()
  const completed = async () => (await api.get(`/deployments/${body.deployment_id}`)).body.completed_steps === 1
  await waitFor(completed, { what: 'the end of the run' })
  // RabbitMQ has all event messages now.
  await waitFor(async () => (await database.query('SELECT FROM outbox')).rowCount === 0, { what: 'an empty outbox' })
  await wipeBroker(suite.namespace)
  await suite.start('dispatcher')
  await deploymentEnd(api, body.deployment_id)
  await waitFor(() => receiver.received.length >= 3, { what: 'all deliveries' })
  const told = receiver.received.map(({ event }) => event.data['id'])
  expect(told.sort()).toEqual([first, second, body.deployment_id].sort())
  expect(receiver.received.every((call) => call.signature === expectedSignature(secret, call))).toBe(true)
  const log = await deliveries(id)
  expect(receiver.received.map((call) => call.id).sort()).toEqual(log.map((one: { id: string }) => one.id).sort())
})
