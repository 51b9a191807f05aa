// One deployment from its preview to its results, with its log live and stored.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  createAction,
  createGate,
  deploymentEnd,
  logHistory,
  openLogStream,
  openTenant,
  readStream,
  type TestTenant,
} from '@slipway/testing'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-golden-'))
const gate = createGate({ folder })
let tenant: TestTenant
let deployment: string

beforeAll(async () => {
  tenant = await openTenant()
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('a preview shows the plan and creates nothing; the deployment starts with this plan', async () => {
  const { api } = tenant
  const script = `echo "hello {{ who }} from $SLIPWAY_TARGET_NAME"; ${gate.script}; echo careful >&2`
  const action_id = await createAction(api, { script, variables: [{ name: 'who', required: true }] }, 'greet')
  const target_ids = [
    await tenant.createLocalTarget({ name: 'web-1' }),
    await tenant.createLocalTarget({ name: 'web-2' }),
  ]
  const request = { action_id, target_ids, target_mode: 'parallel', variables: { who: "it's $(id)" } }

  const preview = await api.post('/deployments/preview', request)
  expect(preview).toMatchObject({
    status: 200,
    body: { plan: { target_count: 2 }, source_version: '1.0.0', warnings: [], target_summary: { total: 2, online: 2 } },
  })
  expect((await api.get('/deployments')).body.meta.total).toBe(0)

  const created = await api.post('/deployments', { ...request, expected_plan_hash: preview.body.plan_hash })
  expect(created).toMatchObject({
    status: 201,
    body: {
      pending: false,
      deployment: { state: 'running', progress: 0, total_steps: 2, action_name: 'greet', config: { target_ids } },
    },
  })
  deployment = created.body.deployment_id
})

test('the live stream has each line and each step once, and ends with the final state', async () => {
  const { api, suite } = tenant
  const live = await openLogStream(suite, api, deployment)
  const messages = await readStream(live, ({ event, data }) => {
    if (event === 'log' && data.log.metadata.seq === 1) gate.open()
  })
  const logs = messages.flatMap(({ event, data }) => (event === 'log' ? [data.log] : []))
  expect(logs.map(({ metadata }) => metadata.seq)).toEqual([0, 1, 2, 3])
  expect(logs.map(({ message }) => message).sort()).toEqual([
    'careful',
    'careful',
    "hello it's $(id) from web-1",
    "hello it's $(id) from web-2",
  ])
  const ended = messages.flatMap(({ event, data }) =>
    event === 'step_update' && data.state === 'completed' ? [data.step_id] : [],
  )
  expect(new Set(ended).size).toBe(2)
  expect(ended).toHaveLength(2)
  expect(messages.at(-1)).toMatchObject({
    event: 'state_change',
    data: { old_state: 'running', new_state: 'success', log_lines: 4 },
  })

  const late = await readStream(await openLogStream(suite, api, deployment, 3))
  expect(late.flatMap(({ event, data }) => (event === 'log' ? [data.log.metadata.seq] : []))).toEqual([3])
})

test('the steps, the lines and the results are stored', async () => {
  const { api } = tenant
  const end = await deploymentEnd(api, deployment)
  expect(end).toMatchObject({ state: 'success', progress: 1, completed_steps: 2, failed_steps: 0 })
  expect(end.duration_ms).toBe(Date.parse(end.completed_at) - Date.parse(end.started_at))
  expect((await logHistory(api, deployment)).map(({ metadata }) => metadata.seq)).toEqual([0, 1, 2, 3])
  const results = (await api.get(`/deployments/${deployment}/analysis`)).body
  expect(results).toHaveLength(2)
  expect(results[0]).toMatchObject({
    status: 'completed',
    exit_code: 0,
    stderr_tail: expect.stringContaining('careful'),
  })
  expect((await api.get('/deployments?search=GREET')).body).toMatchObject({
    meta: { total: 1 },
    data: [{ id: deployment }],
  })
})

test('the audit log has one record of the deployment, with its author', async () => {
  const { body } = await tenant.api.get('/audit/logs?action=deployment.create')
  expect(body.data).toMatchObject([{ resource_id: deployment, actor_name: tenant.username }])
})
