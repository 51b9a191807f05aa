import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  apiWithToken,
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  isUnavailable,
  loginToSuite,
  type ServiceName,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let api: Api
let body: { action_id: string; target_ids: string[] }
let instance: string

beforeAll(async () => {
  suite = await startSuite({ capacity: 1, secondGateway: true })
  database = await connectTo(suite.databaseUrl)
  api = await loginToSuite(suite)
  body = { action_id: await createAction(api), target_ids: [await createLocalTarget(api)] }
  instance = `/admin/instances/${(await api.get('/admin/instances')).body.data[0].id}`
})
afterEach(() => suite.restore())

afterAll(async () => {
  await database.end()
  await suite.stop()
})

const droppedBy = (name: ServiceName) => suite.logOf(name).split('past its deadline').length - 1

interface Attempt {
  method: string
  path: string
  body?: unknown
}

/** Makes the calls while the service is stopped. Each gets 503, has no effect and leaves one audit record. */
async function expectRefused(name: ServiceName, attempts: Attempt[], audited = attempts.length): Promise<void> {
  const requestId = `deadline-${randomUUID()}`
  const before = droppedBy(name)
  const answers = await suite.whileStopped(name, () =>
    Promise.all(attempts.map((a) => api.call(a.method, a.path, a.body, { 'x-request-id': requestId }))),
  )
  expect(answers.map(({ status, body: { error } }) => [status, error.code])).toEqual(
    attempts.map(() => [503, 'SERVICE_UNAVAILABLE']),
  )
  await waitFor(() => droppedBy(name) - before >= attempts.length, { what: `${name} to drop the commands` })
  const { rows } = await database.query<{ details: object }>(
    'SELECT details FROM audit_records WHERE request_id = $1',
    [requestId],
  )
  expect(rows.map(({ details }) => details)).toEqual(
    Array(audited).fill({ outcome: 'failed', status: 503, code: 'SERVICE_UNAVAILABLE' }),
  )
}

const counts = async () =>
  (
    await database.query(
      'SELECT (SELECT count(*)::int FROM deployments) AS deployments, (SELECT count(*)::int FROM pending_requests) AS pending',
    )
  ).rows[0]

/** The deployments and requests of all successful creates, in order. */
const carriedOut = async () =>
  (
    await database.query<{ resource_id: string }>(
      `SELECT resource_id FROM audit_records
        WHERE action = 'deployment.create' AND details ->> 'outcome' IN ('started', 'queued') ORDER BY number`,
    )
  ).rows.map(({ resource_id }) => resource_id)

test('command messages that the dispatcher receives after their deadline have no effect', async () => {
  const { body: running } = await api.post('/deployments', {
    ...body,
    action_id: await createAction(api, { script: 'sleep 600' }),
  })
  const { body: queued } = await api.post('/deployments', body)
  expect([running.pending, queued.pending]).toEqual([false, true])
  const before = await counts()
  await expectRefused('dispatcher', [
    { method: 'POST', path: '/deployments', body },
    { method: 'POST', path: `/deployments/${running.deployment_id}/cancel` },
    { method: 'DELETE', path: `/deployments/pending/${queued.pending_request_id}` },
    { method: 'PATCH', path: `/deployments/pending/${queued.pending_request_id}`, body: { priority: 50 } },
  ])
  expect((await api.get('/deployments/pending')).body).toMatchObject([{ status: 'pending', priority: 0 }])
  expect(await counts()).toEqual(before)
  expect((await api.get(`/deployments/${running.deployment_id}`)).body.state).toBe('running')
  expect((await api.call('DELETE', `/deployments/pending/${queued.pending_request_id}`)).status).toBe(200)
  expect((await api.post(`/deployments/${running.deployment_id}/cancel`)).status).toBe(200)
})

test('fifty calls with one idempotency key start one deployment, although one of two gateways dies', async () => {
  await waitFor(async () => (await api.get(instance)).body.status === 'online')
  const before = await carriedOut()
  const second = apiWithToken(suite.secondUrl, api.token)
  const headers = { 'idempotency-key': randomUUID() }
  const create = (by: Api) =>
    by.call('POST', '/deployments', body, headers).then(
      ({ status, body: answer }) => ({ status, text: JSON.stringify(answer) }),
      () => ({ status: 0, text: '{}' }),
    )
  const calls = Array.from({ length: 50 }, (_, n) => create(n % 2 === 0 ? second : api))
  await waitFor(async () => (await database.query('SELECT FROM idempotency_keys')).rowCount === 1, { everyMs: 1 })
  await suite.kill('gateway-2')
  const answers = (await Promise.all(calls)).filter(({ status }) => status !== 0)
  const known = answers.filter(({ text }) => !isUnavailable(JSON.parse(text)))
  expect(answers.length).toBeGreaterThanOrEqual(25)
  // If the gateway died before it sent its command message, the key is free again after a while.
  const last = await waitFor(async () => {
    const answer = await create(api)
    return isUnavailable(JSON.parse(answer.text)) ? null : answer
  })
  expect([201, 202]).toContain(last.status)
  expect(new Set(known.map(({ text }) => text))).toEqual(new Set(known.length > 0 ? [last.text] : []))
  const { deployment_id, pending_request_id } = JSON.parse(last.text)
  await suite.start('gateway-2')
  expect((await create(second)).text).toBe(last.text)
  expect(await carriedOut()).toEqual([...before, deployment_id ?? pending_request_id])
  if (deployment_id !== undefined) await deploymentEnd(api, deployment_id)
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
