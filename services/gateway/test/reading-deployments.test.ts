import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { stepId } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addDeployment } from './deployment-rows.ts'
import { type Client, clientOf, refusal, refused, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

let gateway: TestGateway
let admin: Client

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

test('a deployment has its plan and its configuration, and no secret', async () => {
  const id = await addDeployment(gateway.database, { targets: 2, actions: 3 })
  await gateway.database.query(
    `UPDATE steps SET state = 'completed', exit_code = 0, started_at = now(), completed_at = now() + interval '250 ms'
     WHERE deployment_id = $1 AND target_index = 0`,
    [id],
  )
  await gateway.database.query(
    'INSERT INTO run_progress (deployment_id, epoch, ended_steps, completed_steps) VALUES ($1, 1, 3, 3)',
    [id],
  )
  const { body } = await admin.send('getDeployment', `/deployments/${id}`)
  expect(body).toMatchObject({
    id,
    progress: 0.5,
    total_steps: 6,
    completed_steps: 3,
    failed_steps: 0,
    duration_ms: null,
  })
  expect(body).toMatchObject({
    source_type: 'action',
    action_name: 'Release',
    action_version: '1.2.0',
    solution_id: null,
  })
  expect(body.config).toEqual({
    target_mode: { rolling: { batch_size: 1 } },
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'none',
    priority: 5,
    timeout_seconds: 60,
    max_retries: 1,
    target_ids: [],
    target_tags: [{ key: 'role', value: 'web' }],
    variables: { token: '***', level: 3 },
    tenant_id: null,
    environment_id: null,
  })
  expect(body.plan.resolved_variables).toEqual({ index: 2, region: 'eu', token: '***', level: 3 })
  expect(body.plan.target_count).toBe(2)
  const places = body.plan.steps.map((step: { id: string }) => step.id)
  expect(places).toEqual([0, 1].flatMap((target) => [0, 1, 2].map((action) => stepId(id, target, action))))
  expect(body.plan.steps[0]).toMatchObject({
    state: 'completed',
    exit_code: 0,
    duration_ms: 250,
    target_name: 'target-0',
  })
  expect(body.plan.steps[5]).toMatchObject({ state: 'pending', started_at: null, action_order: 2 })
})

test('a deployment lists the targets that were left out', async () => {
  const id = await addDeployment(gateway.database, { targets: 1 })
  const config = async () => (await admin.send('getDeployment', `/deployments/${id}`)).body.config
  expect(await config()).not.toHaveProperty('unchanged_target_ids')
  await gateway.database.query('UPDATE deployments SET selection = selection || $2 WHERE id = $1', [
    id,
    JSON.stringify({ unchanged_target_ids: [UNKNOWN_ID] }),
  ])
  expect(await config()).toMatchObject({ unchanged_target_ids: [UNKNOWN_ID] })
})

test('a plan of 15,000 steps is complete', async () => {
  const id = await addDeployment(gateway.database, { targets: 1_500, actions: 10 })
  const { body } = await admin.send('getDeployment', `/deployments/${id}`)
  const ids = body.plan.steps.map((step: { id: string }) => step.id)
  expect(ids).toHaveLength(15_000)
  expect(ids[14_999]).toBe(stepId(id, 1_499, 9))
  expect(new Set(ids).size).toBe(15_000)
})

test('an ended deployment has progress 1 and its exact duration', async () => {
  const id = await addDeployment(gateway.database, { state: 'failed' })
  const { body } = await admin.send('getDeployment', `/deployments/${id}`)
  expect(body).toMatchObject({ progress: 1, duration_ms: 1_500 })
  expect(Date.parse(body.completed_at) - Date.parse(body.started_at)).toBe(1_500)
})

test('lists are newest first, and filters reduce the total', async () => {
  const { database } = gateway
  const older = await addDeployment(database, {
    source_name: 'Filtered one',
    source_type: 'solution',
    state: 'success',
  })
  const newer = await addDeployment(database, { source_name: 'Filtered two' })
  const list = async (query: string) => {
    const { body } = await admin.send('listDeployments', `/deployments?search=filtered&${query}`)
    expect(body.meta.total).toBe(body.data.length)
    return body.data.map(({ id }: { id: string }) => id)
  }
  expect(await list('limit=10')).toEqual([newer, older])
  expect(await list('state=success')).toEqual([older])
  expect(await list('source_type=action')).toEqual([newer])
  expect(await list(`tenant_id=${UNKNOWN_ID}`)).toEqual([])
  const byState = await admin.send('listDeployments', '/deployments?search=SUCC')
  expect(byState.body.data.map(({ id }: { id: string }) => id)).toContain(older)
  const wrong = await admin.send('listDeployments', '/deployments?state=done')
  expect(refusal(wrong)).toMatchObject(refused(400, 'VALIDATION_ERROR', { errors: [{ path: 'query/state' }] }))
})

test('an unknown or malformed id is 404', async () => {
  for (const id of [UNKNOWN_ID, uuidv7(), 'nonsense', '%00']) {
    for (const path of ['', '/logs/history', '/analysis']) {
      const response = await admin.send('getDeployment', `/deployments/${id}${path}`)
      expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
    }
  }
})
