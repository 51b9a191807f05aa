import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  createLocalTargets,
  createSequence,
  deploymentEnd,
  dispatchedDeployment,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  type Suite,
  startSuite,
  violatedInvariants,
} from '@slipway/testing'

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite({ capacity: 1 })
  api = await loginToSuite(suite)
})

afterAll(async () => {
  try {
    expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
  } finally {
    await suite.stop()
  }
})

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)

describe('a deployment of one action', () => {
  test('starts, runs, and has plan, lines and results afterwards', async () => {
    const action_id = await createAction(
      api,
      { script: 'echo "hello from $SLIPWAY_VAR_WHO"; echo careful >&2' },
      'greet',
    )
    const targets = await createLocalTargets(api, 2)
    const { status, body } = await api.post('/deployments', {
      action_id,
      target_ids: targets,
      target_mode: 'parallel',
      variables: { who: 'slipway' },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ deployment_id: uuid, pending: false, message: expect.any(String) })
    expect(body.deployment).toMatchObject({
      id: body.deployment_id,
      state: 'running',
      progress: 0,
      source_type: 'action',
      action_id,
      action_name: 'greet',
      action_version: '1.0.0',
      solution_id: null,
      sequence_id: null,
      total_steps: 2,
      triggered_by: expect.any(String),
      started_at: timestamp,
      completed_at: null,
      duration_ms: null,
      analysis_enabled: true,
      error_message: null,
    })
    expect(body.deployment.config).toEqual({
      target_mode: 'parallel',
      failure_strategy: 'stop_on_first_failure',
      rollback_strategy: 'none',
      priority: 0,
      timeout_seconds: 3600,
      max_retries: 0,
      target_ids: targets,
      target_tags: [],
      variables: { who: 'slipway' },
      tenant_id: null,
      environment_id: null,
    })
    expect(body.deployment.plan).toMatchObject({ target_count: 2, tenant_name: null, created_at: timestamp })
    expect(body.deployment.plan.steps).toHaveLength(2)
    expect(body.deployment).not.toHaveProperty('source_deployment_id')

    const ended = await deploymentEnd(api, body.deployment_id)
    expect(ended).toMatchObject({ state: 'success', progress: 1, completed_steps: 2, failed_steps: 0 })
    expect(ended.duration_ms).toBe(Date.parse(ended.completed_at) - Date.parse(ended.started_at))
    for (const step of ended.plan.steps) {
      expect(step).toMatchObject({
        id: uuid,
        state: 'completed',
        exit_code: 0,
        retry_count: 0,
        sequence_id: action_id,
        sequence_name: 'greet',
        action_order: 0,
        error_message: null,
      })
    }

    const lines = await logHistory(api, body.deployment_id)
    expect(lines.map((line) => line.metadata.seq)).toEqual(lines.map((_, index) => index))
    expect(lines.map((line) => line.message).sort()).toEqual(
      ['careful', 'careful', 'hello from slipway', 'hello from slipway'].sort(),
    )
    const greeting = lines.find((line) => line.stdout !== null)
    expect(greeting).toMatchObject({
      id: uuid,
      timestamp: expect.stringMatching(/\+00:00$/),
      level: 'info',
      event_type: 'log',
      stdout: 'hello from slipway',
      stderr: null,
      analysis: null,
    })

    const results = (await api.get(`/deployments/${body.deployment_id}/analysis`)).body
    expect(results).toHaveLength(2)
    expect(results[0]).toMatchObject({
      status: 'completed',
      exit_code: 0,
      action_name: 'greet',
      stdout_tail: expect.stringContaining('hello from slipway'),
      stderr_tail: expect.stringContaining('careful'),
    })

    const listed = (await api.get('/deployments?search=GREET')).body
    expect(listed.meta).toEqual({ total: 1, page: 1, limit: 50, total_pages: 1, has_next: false, has_prev: false })
    expect(listed.data[0]).toMatchObject({ id: body.deployment_id, state: 'success', progress: 1 })
    expect(listed.data[0]).not.toHaveProperty('plan')
  })

  test('that fails skips the following steps and rolls back', async () => {
    const good = await createAction(api, { script: 'echo did', rollback: 'echo undid' })
    const bad = await createAction(api, { script: 'echo "cannot go on" >&2; exit 3' })
    const never = await createAction(api, { script: 'echo never' })
    const sequence_id = await createSequence(api, [good, bad, never])
    const target = await createLocalTarget(api)
    const { body } = await api.post('/deployments', {
      sequence_id,
      target_ids: [target],
      rollback_strategy: 'failed_target_only',
    })
    const ended = await deploymentEnd(api, body.deployment_id)
    expect(ended).toMatchObject({ state: 'rolled_back', progress: 1, failed_steps: 1 })
    expect(ended.plan.steps.map((step: { state: string }) => step.state)).toEqual(['rolled_back', 'failed', 'skipped'])
    expect(ended.plan.steps[1]).toMatchObject({ exit_code: 3 })
    const messages = (await logHistory(api, body.deployment_id)).map((line) => line.message)
    expect(messages).toEqual(expect.arrayContaining(['did', 'cannot go on', 'undid']))
    expect(messages).not.toContain('never')
    const results = (await api.get(`/deployments/${body.deployment_id}/analysis`)).body
    expect(results.map((r: { status: string }) => r.status)).toEqual(['completed', 'failed'])
  })

  test('is shown by a preview and by dry_run, which create nothing', async () => {
    const action_id = await createAction(api)
    const target = await createLocalTarget(api)
    const before = (await api.get('/deployments')).body.meta.total
    for (const answer of [
      await api.post('/deployments/preview', { action_id, target_ids: [target] }),
      await api.post('/deployments', { action_id, target_ids: [target], dry_run: true }),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        plan: { target_count: 1, steps: [{ state: 'pending', target_id: target, action_id }] },
        warnings: [],
        target_summary: { total: 1, online: 1, offline: 0, stale: 0 },
        source_type: 'action',
        source_version: '1.0.0',
      })
    }
    expect((await api.get('/deployments')).body.meta.total).toBe(before)
  })

  test('is repeated by redeploy', async () => {
    const action_id = await createAction(api, { script: 'echo "$SLIPWAY_VAR_A $SLIPWAY_VAR_B"' })
    const target = await createLocalTarget(api)
    const first = await api.post('/deployments', { action_id, target_ids: [target], variables: { a: '1', b: '1' } })
    await deploymentEnd(api, first.body.deployment_id)
    const again = await api.post(`/deployments/${first.body.deployment_id}/redeploy`, { variables: { b: '2' } })
    expect(again.status).toBe(201)
    expect(again.body).toMatchObject({
      id: uuid,
      state: 'running',
      plan: null,
      source_deployment_id: first.body.deployment_id,
      config: { variables: { a: '1', b: '2' }, target_ids: [target] },
    })
    await deploymentEnd(api, again.body.id)
    expect((await logHistory(api, again.body.id)).map((line) => line.message)).toEqual(['1 2'])
  })
})

describe('without a free slot', () => {
  test('requests wait in the order of priority and age, can be cancelled, and are dispatched', async () => {
    const slow = await createAction(api, { script: 'sleep 600' })
    const quick = await createAction(api)
    const target_ids = [await createLocalTarget(api)]
    const running = await api.post('/deployments', { action_id: slow, target_ids })
    expect(running.status).toBe(201)

    const ask = async (priority: number) => {
      const { status, body } = await api.post('/deployments', { action_id: quick, target_ids, priority })
      expect(status).toBe(202)
      expect(body).toEqual({ pending_request_id: uuid, pending: true, message: expect.any(String), warnings: [] })
      return body.pending_request_id as string
    }
    const [low, high, cancelled] = [await ask(-5), await ask(5), await ask(0)]
    const waiting = (await api.get('/deployments/pending')).body
    expect(waiting.map((p: { id: string }) => p.id)).toEqual([high, cancelled, low])
    expect(waiting[0]).toMatchObject({
      status: 'pending',
      retry_count: 0,
      position: 1,
      priority: 5,
      source_type: 'action',
      source_id: quick,
      source_name: expect.any(String),
      source_version: '1.0.0',
      target_count: 1,
      queued_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    })
    expect(waiting[0]).not.toHaveProperty('deployment_id')
    expect(waiting[0]).not.toHaveProperty('tenant_id')
    expect((await api.get(`/deployments/pending/${high}`)).body).toMatchObject({
      id: high,
      status: 'pending',
      position: 1,
    })
    expect((await api.get(`/deployments/${high}`)).status).toBe(404)

    expect((await api.call('DELETE', `/deployments/pending/${cancelled}`)).status).toBe(200)
    const refused = await api.call('DELETE', `/deployments/pending/${cancelled}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT'])
    expect((await api.call('DELETE', `/deployments/pending/${running.body.deployment_id}`)).status).toBe(404)

    const stopped = await api.post(`/deployments/${running.body.deployment_id}/cancel`, { reason: 'enough' })
    expect(stopped.status).toBe(200)
    expect(stopped.body).toMatchObject({ state: 'cancelled', plan: null, completed_at: timestamp })
    expect((await api.post(`/deployments/${running.body.deployment_id}/cancel`)).status).toBe(409)

    const ids = await Promise.all([high, low].map((id) => dispatchedDeployment(api, id)))
    // One id, whether the request waits or runs.
    expect(ids).toEqual([high, low])
    const ends = await Promise.all(ids.map((id) => deploymentEnd(api, id)))
    expect(ends.map((d) => d.state)).toEqual(['success', 'success'])
    expect(Date.parse(ends[0].started_at)).toBeLessThanOrEqual(Date.parse(ends[1].started_at))
  })
})

describe('the live log stream', () => {
  test('sends everything once and in order, and closes after the final state_change', async () => {
    const action_id = await createAction(api, { script: 'for i in 1 2 3 4 5; do echo "line $i"; sleep 0.1; done' })
    const { body } = await api.post('/deployments', { action_id, target_ids: [await createLocalTarget(api)] })
    const messages = await readStream(await openLogStream(suite, api, body.deployment_id))
    expect(messages[0]).toEqual({ event: 'ping', data: { type: 'ping' } })
    for (const { event, data } of messages) expect(data.type).toBe(event)
    const logs = messages.filter((m) => m.event === 'log').map((m) => m.data.log)
    expect(logs.map((log) => log.message)).toEqual([1, 2, 3, 4, 5].map((i) => `line ${i}`))
    expect(logs.map((log) => log.metadata.seq)).toEqual([0, 1, 2, 3, 4])
    const progress = messages.filter((m) => m.event === 'progress').map((m) => m.data.progress)
    expect([...progress].sort((a, b) => a - b)).toEqual(progress)
    expect(progress.at(-1)).toBe(1)
    const states = messages.filter((m) => m.event === 'state_change').map((m) => m.data)
    expect(states[0]).toMatchObject({ old_state: '', new_state: 'running' })
    expect(messages.at(-1)).toMatchObject({
      event: 'state_change',
      data: { deployment_id: body.deployment_id, old_state: 'running', new_state: 'success', log_lines: 5 },
    })

    const outputs = (all: typeof messages) =>
      all.flatMap((m) => (m.event === 'step_update' ? [[m.data.state, m.data.output]] : []))
    const completed = ['completed', 'line 1\nline 2\nline 3\nline 4\nline 5']
    expect(outputs(messages)).toEqual([['running', null], completed])
    const said = messages.filter((m) => m.event === 'progress').at(-1)
    expect(said?.data.message).toBe('1 of 1 steps are complete')

    const late = await readStream(await openLogStream(suite, api, body.deployment_id, 3))
    expect(outputs(late)).toEqual([completed])
    expect(late.filter((m) => m.event === 'log').map((m) => m.data.log.message)).toEqual(['line 4', 'line 5'])
    expect(late.at(-1)).toMatchObject({ event: 'state_change', data: { new_state: 'success', log_lines: 5 } })
  })

  test('accepts a token once, and no bearer', async () => {
    const action_id = await createAction(api)
    const { body } = await api.post('/deployments', { action_id, target_ids: [await createLocalTarget(api)] })
    await deploymentEnd(api, body.deployment_id)
    const token = (await api.post('/auth/sse-token', {})).body.sse_token
    const open = () => fetch(`${suite.url}/api/v1/deployments/${body.deployment_id}/logs?sse_token=${token}`)
    const first = await open()
    expect(first.headers.get('content-type')).toContain('text/event-stream')
    await readStream(first)
    const second = await open()
    const refused = (await second.json()) as { error: { code: string } }
    expect([second.status, refused.error.code]).toEqual([401, 'INVALID_TOKEN'])
    const bearer = await api.get(`/deployments/${body.deployment_id}/logs`)
    expect(bearer.status).toBe(401)
  })
})

describe('a refusal', () => {
  const refusal = async (body: unknown) => {
    const answer = await api.post('/deployments', body)
    return [answer.status, answer.body.error?.code, answer.body.error?.details] as const
  }

  test('is given for a missing or second source and for no targets, and lists all wrong fields at once', async () => {
    const action_id = await createAction(api)
    const target_ids = [await createLocalTarget(api)]
    expect((await refusal({ target_ids })).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR'])
    expect((await refusal({ action_id, sequence_id: action_id, target_ids })).slice(0, 2)).toEqual([
      400,
      'VALIDATION_ERROR',
    ])
    expect((await refusal({ action_id })).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR'])
    const [status, code, details] = await refusal({
      action_id,
      target_ids,
      priority: 101,
      max_retries: -1,
      targets_ids: [],
    })
    expect([status, code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(details.errors.map((e: { path: string }) => e.path).sort()).toEqual([
      '/max_retries',
      '/priority',
      '/targets_ids',
    ])
  })

  test('is 404 for unknown ids and names all of them', async () => {
    const unknown = '0193b0f0-0000-7000-8000-000000000001'
    const [status, code, details] = await refusal({ action_id: unknown, target_ids: [unknown] })
    expect([status, code]).toEqual([404, 'NOT_FOUND'])
    expect(details.missing).toEqual(
      expect.arrayContaining([
        { path: '/action_id', id: unknown },
        { path: '/target_ids/0', id: unknown },
      ]),
    )
  })

  test('by a freeze can be overridden by an administrator with a reason', async () => {
    const action_id = await createAction(api)
    const target_ids = [await createLocalTarget(api)]
    const solution = await api.post('/solutions', {
      name: 'frozen solution',
      version: '1.0.0',
      definition: { sequences: [{ sequence_id: await createSequence(api, [action_id]) }] },
    })
    const freeze = await api.post('/deployment-freezes', {
      name: 'stocktaking',
      start_time: new Date(Date.now() - 60_000).toISOString(),
      end_time: new Date(Date.now() + 600_000).toISOString(),
      solution_id: solution.body.id,
    })
    expect(freeze.status).toBe(201)
    const request = { solution_id: solution.body.id, target_ids }
    const [status, code, details] = await refusal(request)
    expect([status, code]).toEqual([409, 'DEPLOYMENT_FROZEN'])
    expect(details).toEqual({
      active_freezes: [{ id: freeze.body.id, name: 'stocktaking', ends_at: timestamp }],
      can_override: true,
    })
    expect(await refusal({ ...request, override_freeze: true })).toEqual([
      400,
      'MISSING_FIELD',
      { fields: ['override_reason'] },
    ])
    const preview = await api.post('/deployments/preview', request)
    expect(preview.status).toBe(200)
    expect(preview.body.warnings.join()).toContain('stocktaking')
    const overridden = await api.post('/deployments', {
      ...request,
      override_freeze: true,
      override_reason: 'urgent fix',
    })
    expect(overridden.status).toBe(201)
    expect((await deploymentEnd(api, overridden.body.deployment_id)).state).toBe('success')
  })
})
