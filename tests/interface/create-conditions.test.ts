import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createAction, createLocalTarget, createUser, deploymentEnd } from '@slipway/testing'
import {
  accepted,
  api,
  type Body,
  environment_id,
  invalid,
  original,
  pathsOf,
  refusalOf,
  refused,
  start,
  stop,
  suite,
  UNKNOWN,
  valid,
} from './create-rules.ts'

beforeAll(start)
afterAll(stop)

describe('freezes', () => {
  test('can be overridden only with a reason', async () => {
    expect(await refused({ ...valid(), override_freeze: true })).toEqual({
      status: 400,
      code: 'MISSING_FIELD',
      details: { fields: ['override_reason'] },
    })
    const again = refusalOf(await api.post(`/deployments/${original}/redeploy`, { override_freeze: true }))
    expect(again).toEqual({ status: 400, code: 'MISSING_FIELD', details: { fields: ['override_reason'] } })
    for (const bad of ['', '  ', 5, null]) {
      await invalid({ ...valid(), override_freeze: true, override_reason: bad }, '/override_reason')
    }
    for (const bad of ['true', 1, null]) await invalid({ ...valid(), override_freeze: bad }, '/override_freeze')
    await accepted({ ...valid(), override_reason: 'of no use' })
    await accepted({ ...valid(), override_freeze: false })
    // An override is allowed without a freeze, and does not hide other errors.
    await accepted({ ...valid(), override_freeze: true, override_reason: 'just in case' })
    await invalid({ ...valid(), override_freeze: true, priority: 101 }, '/override_reason', '/priority')
  })

  test('of an environment also apply if the request leaves the environment out', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const { body: environment } = await api.post('/environments', { name: 'production' })
    const target = await createLocalTarget(api, { environment_id: environment.id })
    const request = { ...valid(), target_ids: [target] }
    const { body: before } = await api.post('/deployments', request)
    const { body: freeze } = await api.post('/deployment-freezes', {
      name: 'Closing',
      start_time: at(-10),
      end_time: at(60),
      environment_id: environment.id,
    })
    try {
      const details = {
        active_freezes: [{ id: freeze.id, name: 'Closing', ends_at: freeze.end_time, target_ids: [target] }],
        can_override: true,
      }
      const expected = { status: 409, code: 'DEPLOYMENT_FROZEN', details }
      expect(refusalOf(await api.post('/deployments', request))).toEqual(expected)
      expect(refusalOf(await api.post(`/deployments/${before.deployment_id}/redeploy`, {}))).toEqual(expected)
      const preview = await api.post('/deployments/preview', request)
      expect(preview.body.warnings).toEqual([
        `Freeze "Closing" (by 1 of its targets) blocks this deployment until ${freeze.end_time}`,
      ])
    } finally {
      await api.call('DELETE', `/deployment-freezes/${freeze.id}`)
    }
  })

  test('block create and redeploy, and a preview names their end', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const [first, again] = [await api.post('/environments', { name: 'frozen' }), original]
    const frozen = first.body.id
    const { body: freeze } = await api.post('/deployment-freezes', {
      name: 'Audit week',
      start_time: at(-10),
      end_time: at(60),
      environment_id: frozen,
    })
    const details = {
      active_freezes: [{ id: freeze.id, name: 'Audit week', ends_at: freeze.end_time }],
      can_override: true,
    }
    const expected = { status: 409, code: 'DEPLOYMENT_FROZEN', details }
    const request = { ...valid(), environment_id: frozen }
    expect(refusalOf(await api.post('/deployments', request))).toEqual(expected)
    expect(refusalOf(await api.post(`/deployments/${again}/redeploy`, { environment_id: frozen }))).toEqual(expected)
    for (const answer of [
      await api.post('/deployments/preview', request),
      await api.post('/deployments', { ...request, dry_run: true }),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.body.warnings).toEqual([`Freeze "Audit week" blocks this deployment until ${freeze.end_time}`])
    }
    const override = { override_freeze: true, override_reason: 'a hole in the fence' }
    expect((await api.post('/deployments', { ...request, ...override })).status).toBe(201)
    expect((await api.post(`/deployments/${again}/redeploy`, { environment_id: frozen, ...override })).status).toBe(201)
    const { body: audit } = await api.get('/audit/logs?action=deployment.create&limit=1')
    expect(audit.data[0].details.freeze_override).toEqual({
      reason: 'a hole in the fence',
      freezes: [{ id: freeze.id, name: 'Audit week' }],
    })
    // An operator may not override, with or without a freeze.
    const olga = await createUser(suite, api, ['operator'])
    for (const body of [
      { ...request, ...override },
      { ...valid(), ...override },
    ]) {
      expect(refusalOf(await olga.post('/deployments', body))).toMatchObject({
        status: 403,
        code: 'INSUFFICIENT_PERMISSIONS',
      })
    }
    const hers = refusalOf(await olga.post('/deployments', request))
    expect(hers).toEqual({ ...expected, details: { ...details, can_override: false } })
  })
})

describe('a preview', () => {
  test('has a plan hash; a create with this hash starts the same plan or is refused with the differences', async () => {
    const request = { ...valid(), variables: { a: 1, b: { x: 1, y: 2 } } }
    const { plan_hash } = await accepted(request)
    expect((await accepted({ ...request, variables: { b: { y: 2, x: 1 }, a: 1 } })).plan_hash).toBe(plan_hash)
    const dry = await api.post('/deployments', { ...request, dry_run: true, expected_plan_hash: plan_hash })
    expect([dry.status, dry.body.plan_hash]).toEqual([200, plan_hash])
    const differing = await api.post('/deployments', { ...request, priority: 9, expected_plan_hash: plan_hash })
    expect(refusalOf(differing)).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(differing.body.error.details.differences).toEqual([
      { path: 'options', message: expect.any(String), actual: expect.stringContaining('priority 9') },
    ])
    const started = await api.post('/deployments', { ...request, expected_plan_hash: plan_hash })
    expect(started.status).toBe(201)
    await deploymentEnd(api, started.body.deployment_id)
    const redeploy = (body: Body) => api.post(`/deployments/${started.body.deployment_id}/redeploy`, body)
    expect((await redeploy({ expected_plan_hash: plan_hash })).status).toBe(201)
    const other = await redeploy({ expected_plan_hash: plan_hash, variables: { a: 2 } })
    expect(other.body.error.details.differences.map(({ path }: { path: string }) => path)).toEqual([
      'variables/request',
    ])
    for (const bad of ['', 'x', 5, null, `${plan_hash}!`])
      await invalid({ ...request, expected_plan_hash: bad }, '/expected_plan_hash')
  })

  test('has the same warnings as create and redeploy; strict refuses requests with warnings', async () => {
    const action_id = await createAction(api, { script: 'echo "{{ nobody }} {{ level }}"' })
    const request = { ...valid(), action_id, variables: { level: 3, levle: 4 } }
    const { warnings } = await accepted(request)
    expect(warnings).toEqual([
      expect.stringMatching(/^Action ".+": \{\{ nobody \}\} has no value and is left as it stands$/),
      'Variable "levle" is given and not used: no definition, script or template names it',
    ])
    const created = await api.post('/deployments', request)
    expect([created.status, created.body.warnings]).toEqual([201, warnings])
    const path = `/deployments/${created.body.deployment_id}/redeploy`
    const again = await api.post(path, {})
    expect([again.status, again.body.warnings]).toEqual([201, warnings])

    const refusal = { status: 400, code: 'VALIDATION_ERROR', details: { warnings } }
    expect(await refused({ ...request, strict: true })).toEqual(refusal)
    expect(refusalOf(await api.post('/deployments', { ...request, strict: true, dry_run: true }))).toEqual(refusal)
    expect(refusalOf(await api.post(path, { strict: true }))).toEqual(refusal)
    for (const bad of ['true', 1, null]) await invalid({ ...request, strict: bad }, '/strict')
    await accepted({ ...request, strict: false })
    await Promise.all([created.body.deployment_id, again.body.id].map((id) => deploymentEnd(api, id)))
  })

  test('with strict is refused for an offline target, and not for a freeze', async () => {
    const connection = { type: 'ssh', host: 'nowhere.invalid', username: 'x', password: 'x' }
    const { body: offline } = await api.post('/targets', { name: 'nowhere', connection })
    const warnings = ['Target "nowhere" is offline: its steps will fail']
    expect(await refused({ ...valid(), target_ids: [offline.id], strict: true })).toMatchObject({
      details: { warnings },
    })
    const { body: freeze } = await api.post('/deployment-freezes', {
      name: 'Strict',
      start_time: new Date(Date.now() - 60_000).toISOString(),
      end_time: new Date(Date.now() + 3_600_000).toISOString(),
    })
    try {
      const override = { override_freeze: true, override_reason: 'a test', strict: true }
      const { warnings } = await accepted({ ...valid(), ...override })
      expect(warnings).toEqual([expect.stringContaining('Freeze "Strict"')])
      const created = await api.post('/deployments', { ...valid(), ...override })
      expect([created.status, created.body.warnings]).toEqual([201, warnings])
      await deploymentEnd(api, created.body.deployment_id)
    } finally {
      await api.call('DELETE', `/deployment-freezes/${freeze.id}`)
    }
  })
})

describe('a redeploy', () => {
  test('repeats the whole configuration; fields of the body replace theirs, and variables are merged', async () => {
    const script = 'test "$SLIPWAY_VAR_FAIL" != "$SLIPWAY_VAR_OWN"'
    const action = await createAction(api, { script })
    const [good, bad] = [
      await createLocalTarget(api, { variables: { own: 'good' }, tags: [{ key: 'redeploy', value: 'yes' }] }),
      await createLocalTarget(api, { variables: { own: 'bad' } }),
    ]
    const request = {
      action_id: action,
      target_ids: [good, bad],
      failure_strategy: 'continue_on_failure',
      priority: 7,
      max_retries: 1,
      timeout_seconds: 30,
      target_mode: 'parallel',
      variables: { fail: 'bad', kept: [1] },
    }
    const first = (await api.post('/deployments', request)).body.deployment_id
    expect((await deploymentEnd(api, first)).state).toBe('failed')
    await api.post(`/actions/${action}/versions`, { version: '1.5.0', definition: { type: 'script', script: 'false' } })

    const again = async (body?: Body) => {
      const answer = await api.post(`/deployments/${first}/redeploy`, body)
      expect({ body, status: answer.status, error: answer.body.error }).toEqual({ body, status: 201, error: undefined })
      expect(answer.body).toMatchObject({ plan: null, source_deployment_id: first, action_version: '1.0.0' })
      return deploymentEnd(api, answer.body.id)
    }
    const { action_id: _, ...config } = request
    expect((await again()).config).toEqual(expect.objectContaining(config))
    const merged = await again({ variables: { fail: 'nobody' } })
    expect([merged.state, merged.config.variables]).toEqual(['success', { fail: 'nobody', kept: [1] }])
    const failedOnly = await again({ only_failed_targets: true })
    expect(failedOnly.config.target_ids).toEqual([bad])

    const { total } = (await api.get('/deployments')).body.meta
    const dry = await api.post(`/deployments/${first}/redeploy`, { only_failed_targets: true, dry_run: true })
    expect([dry.status, dry.body]).toMatchObject([
      200,
      {
        source_version: '1.0.0',
        warnings: [expect.stringContaining('"kept"')],
        plan: { target_count: 1, steps: [{ target_id: bad, state: 'pending' }] },
      },
    ])
    expect((await api.get('/deployments')).body.meta.total).toBe(total)
    await again({ only_failed_targets: true, expected_plan_hash: dry.body.plan_hash })
    const byTag = await again({ target_tags: [{ key: 'redeploy', value: 'yes' }] })
    expect([byTag.config.target_ids, byTag.plan.target_count]).toEqual([[], 1])
    expect((await again({ target_ids: [good], environment_id })).config).toMatchObject({
      target_ids: [good],
      environment_id,
    })

    const refusal = async (body: Body, id = first) => refusalOf(await api.post(`/deployments/${id}/redeploy`, body))
    for (const body of [
      { only_failed_targets: true, target_ids: [bad] },
      { only_failed_targets: true, target_tags: [{ key: 'redeploy', value: 'yes' }] },
    ]) {
      const both = await refusal(body)
      expect([both.status, both.code, pathsOf(both)]).toEqual([400, 'VALIDATION_ERROR', ['/only_failed_targets']])
    }
    const none = await refusal({ only_failed_targets: true }, merged.id)
    expect([none.status, pathsOf(none)]).toEqual([400, ['/only_failed_targets']])
    await again({ only_failed_targets: false })
    for (const value of ['true', 1, null]) {
      expect((await refusal({ only_failed_targets: value })).status).toBe(400)
      expect(pathsOf(await refusal({ dry_run: value }))).toEqual(['/dry_run'])
    }
    expect(await refusal({ dry_run: true }, UNKNOWN)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    for (const body of [{ target_ids: [] }, { target_tags: [] }, { target_ids: [], target_tags: [] }]) {
      expect(await refusal(body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    }
    expect(await refusal({ target_ids: [UNKNOWN] })).toMatchObject({
      status: 404,
      details: { missing: [{ path: '/target_ids/0' }] },
    })
    expect(await refusal({ environment_id: UNKNOWN })).toMatchObject({ status: 404 })
    expect(await refusal({ prompted_values: { unheard: 1 } })).toMatchObject({ status: 400 })
    expect(await refusal({}, UNKNOWN)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(await refusal({}, 'no-id')).toMatchObject({ status: 404 })
  })

  test('of a deleted source is a conflict', async () => {
    const action = await createAction(api)
    const { deployment_id } = (await api.post('/deployments', { ...valid(), action_id: action })).body
    await deploymentEnd(api, deployment_id)
    expect((await api.call('DELETE', `/actions/${action}`)).status).toBe(204)
    expect(refusalOf(await api.post(`/deployments/${deployment_id}/redeploy`))).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    })
  })
})
