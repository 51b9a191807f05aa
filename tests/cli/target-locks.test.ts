// Target locks as users see them: in answers of the API and on the command line.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  deploymentEnd,
  dispatchedDeployment,
  loginToSuite,
  type Suite,
  startSuite,
  violatedInvariants,
} from '@slipway/testing'
import { commandLineOf } from './slipway.ts'

let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
})
afterAll(() => suite?.stop())

const ANY_TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)

/** A simulated target in an environment with this policy. */
async function createTarget(name: string, concurrency: string): Promise<string> {
  const environment = await api.post('/environments', { name: `of ${name}`, concurrency })
  const connection = { type: 'simulated', duration_ms: 60_000 }
  const target = await api.post('/targets', { name, connection, environment_id: environment.body.id })
  expect(target.body).toMatchObject({ concurrency: null })
  return target.body.id
}

async function pendingOf(id: string, status = 'pending') {
  const { body } = await api.get<{ id: string }[]>(`/deployments/pending?status=${status}`)
  return body.find((request) => request.id === id)
}

test('queue: a request names the holder, the target and the time, and starts after the end of the holder', async () => {
  const [action_id, target] = [await createAction(api), await createTarget('web-queue', 'queue')]
  const deploy = () => api.post('/deployments', { action_id, target_ids: [target] })
  const first = await deploy()
  const preview = await api.post('/deployments/preview', { action_id, target_ids: [target] })
  expect(preview.body.warnings).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^The target "web-queue" is held by deployment ${first.body.deployment_id} since .*: the deployment would wait$`,
      ),
    ),
  )
  const second = await deploy()
  const third = await deploy()
  expect([first.status, second.status, third.status]).toEqual([201, 202, 202])
  const holder = {
    target_id: target,
    target_name: 'web-queue',
    deployment_id: first.body.deployment_id,
    since: ANY_TIME,
  }
  expect(await pendingOf(second.body.pending_request_id)).toMatchObject({
    waiting_for: 'target_lock',
    waiting_reason: expect.stringContaining(
      `Waits for the target "web-queue", held by deployment ${first.body.deployment_id} since`,
    ),
    held_targets: [holder],
  })
  const why = await cli.run(['pending', 'why', second.body.pending_request_id])
  expect(why.stdout).toMatch(new RegExp(`held target: +web-queue, by ${first.body.deployment_id} since `))
  expect((await cli.run(['pending', 'list'])).stdout).toContain('Waits for the target "web-queue"')
  await api.post(`/deployments/${first.body.deployment_id}/cancel`, {})
  const started = await dispatchedDeployment(api, second.body.pending_request_id)
  expect(await pendingOf(third.body.pending_request_id)).toMatchObject({ held_targets: [{ deployment_id: started }] })
  await api.call('DELETE', `/deployments/pending/${third.body.pending_request_id}`)
  expect(await pendingOf(third.body.pending_request_id, 'cancelled')).toMatchObject({ cancelled_because: 'user' })
  await api.post(`/deployments/${started}/cancel`, {})
  await deploymentEnd(api, started)
})

test('reject: the answer is 409 and names the holder, and a preview warns of the refusal', async () => {
  const [action_id, target] = [await createAction(api), await createTarget('web-reject', 'reject')]
  const body = { action_id, target_ids: [target] }
  const first = await api.post('/deployments', body)
  expect((await api.post('/deployments/preview', body)).body.warnings).toContainEqual(
    expect.stringContaining('the deployment would be refused'),
  )
  const refused = await api.post('/deployments', body)
  expect(refused).toMatchObject({
    status: 409,
    body: {
      error: {
        code: 'CONFLICT',
        details: { held_targets: [{ target_id: target, deployment_id: first.body.deployment_id, since: ANY_TIME }] },
      },
    },
  })
  await api.post(`/deployments/${first.body.deployment_id}/cancel`, {})
})

test('supersede: the older request is cancelled and names the newer one', async () => {
  const [action_id, target] = [await createAction(api), await createTarget('web-supersede', 'supersede')]
  const deploy = () => api.post('/deployments', { action_id, target_ids: [target] })
  const first = await deploy()
  const [older, newer] = [await deploy(), await deploy()]
  expect(await pendingOf(older.body.pending_request_id, 'cancelled')).toMatchObject({
    cancelled_because: 'superseded',
    superseded_by: newer.body.pending_request_id,
    error_message: expect.stringContaining('Superseded by the request'),
  })
  const why = await cli.run(['pending', 'list', '--status', 'cancelled'])
  expect(why.stdout).toContain('Superseded by the request')
  const { body: records } = await api.get('/audit/logs?action=pending_request.supersede')
  expect(records.data).toMatchObject([
    { resource_id: older.body.pending_request_id, details: { superseded_by: newer.body.pending_request_id } },
  ])
  await api.post(`/deployments/${first.body.deployment_id}/cancel`, {})
  const started = await dispatchedDeployment(api, newer.body.pending_request_id)
  await api.post(`/deployments/${started}/cancel`, {})
  await deploymentEnd(api, started)
})

test('all invariants hold after these deployments', async () => {
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
