import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Answer,
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
} from '@slipway/testing'

// Every rule of "Create deployment" and "Redeploy", asked as a client would that knows the interface and nothing else.

type Body = Record<string, unknown>

const UNKNOWN = '0193b0f0-0000-7000-8000-000000000001'

let suite: Suite
let api: Api
let action_id: string
let target: { id: string; sqid: string; name: string }
let environment_id: string
let original: string

beforeAll(async () => {
  suite = await startSuite({ capacity: 100 })
  api = await loginToSuite(suite)
  action_id = await createAction(api, { variables: [{ name: 'level', type: 'number' }] })
  target = (await api.get(`/targets/${await createLocalTarget(api, { tags: [{ key: 'role', value: 'web' }] })}`)).body
  environment_id = (await api.post('/environments', { name: 'anywhere' })).body.id
  const first = await api.post('/deployments', { action_id, target_ids: [target.id] })
  original = first.body.deployment_id
  await deploymentEnd(api, original)
}, 90_000)

afterAll(() => suite.stop(), 60_000)

const valid = (): Body => ({ action_id, target_ids: [target.id] })
const refusalOf = ({ status, body }: Answer<{ error?: { code: string; details?: unknown } }>) => ({
  status,
  code: body.error?.code,
  details: body.error?.details,
})
const pathsOf = ({ details }: { details?: unknown }) =>
  ((details as { errors?: { path: string }[] } | undefined)?.errors ?? []).map(({ path }) => path).sort()

/** What create, a dry run and a preview say of one body: they must not differ. */
async function refused(body: unknown) {
  const answers = await Promise.all([
    api.post('/deployments', body),
    api.post('/deployments/preview', body),
    ...(typeof body === 'object' && body !== null && !Array.isArray(body) && !('dry_run' in body)
      ? [api.post('/deployments', { ...body, dry_run: true })]
      : []),
  ])
  const [first, ...others] = answers.map(refusalOf)
  for (const other of others) expect(other).toEqual(first)
  if (first === undefined) throw new Error('no answer')
  return first
}

/** 400 VALIDATION_ERROR at exactly these places. */
async function invalid(body: unknown, ...paths: string[]) {
  const refusal = await refused(body)
  expect({ body, status: refusal.status, code: refusal.code, paths: pathsOf(refusal) }).toEqual({
    body,
    status: 400,
    code: 'VALIDATION_ERROR',
    paths: [...paths].sort(),
  })
}

async function accepted(body: Body) {
  const { status, body: preview } = await api.post('/deployments/preview', body)
  expect({ body, status, error: preview.error }).toEqual({ body, status: 200, error: undefined })
  return preview
}

/** Values of one field that both create and redeploy take: those refused, and those accepted. */
const FIELDS: [field: string, refused: unknown[], accepted: unknown[]][] = [
  ['priority', [-101, 101, 0.5, '1', true, null], [-100, 0, 100]],
  ['timeout_seconds', [0, -1, 86_401, 1.5, '1', null], [1, 86_400]],
  ['max_retries', [-1, 11, 0.5, '1', null], [0, 10]],
  [
    'target_mode',
    [
      'serial',
      '',
      1,
      null,
      [],
      {},
      { rolling: {} },
      { rolling: { batch_size: 0 } },
      { rolling: { batch_size: -1 } },
    ].concat(
      [
        { rolling: { batch_size: 1.5 } },
        { rolling: { batch_size: '1' } },
        { rolling: { batch_size: 1, more: 1 } },
      ] as never[],
      [{ rolling: { batch_size: 1 }, sequential: true }, { rolling: 1 }] as never[],
    ),
    ['sequential', 'parallel', { rolling: { batch_size: 1 } }, { rolling: { batch_size: 1000 } }],
  ],
  [
    'failure_strategy',
    ['stop', 'STOP_ON_FIRST_FAILURE', '', null, 1],
    ['stop_on_first_failure', 'continue_on_failure', 'ignore_failures'],
  ],
  ['rollback_strategy', ['all', '', null, 1], ['none', 'failed_target_only', 'all_executed']],
  ['bypass_cache', ['true', 1, null], [true, false]],
  [
    'variables',
    [[], 'a', null, { 'a-b': 1 }, { '': 1 }, { 'a b': 1 }, { ä: 1 }],
    [{}, { a: null, B_2: [1], '3d': {} }],
  ],
  ['prompted_values', [[], 'a', null, { 'a-b': 1 }], [{}, { level: 5 }]],
]

describe('each field', () => {
  test.each(FIELDS)('%s has its bounds, in create and in redeploy', async (field, bad, good) => {
    for (const value of bad) {
      const { status, code, details } = await refused({ ...valid(), [field]: value })
      expect({ value, status, code }).toEqual({ value, status: 400, code: 'VALIDATION_ERROR' })
      for (const path of pathsOf({ details })) expect(path).toMatch(new RegExp(`^/${field}(/|$)`))
      const again = refusalOf(await api.post(`/deployments/${original}/redeploy`, { [field]: value }))
      expect({ value, ...again }).toEqual({ value, status, code, details })
    }
    for (const value of good) {
      await accepted({ ...valid(), [field]: value })
      const again = await api.post(`/deployments/${original}/redeploy`, { [field]: value })
      expect({ value, status: again.status }).toEqual({ value, status: 201 })
      if (field in again.body.config && field !== 'variables') expect(again.body.config[field]).toEqual(value)
    }
  })

  test('deployment_timeout_seconds is 0 or more', async () => {
    for (const value of [-1, 0.5, '0', null]) {
      await invalid({ ...valid(), deployment_timeout_seconds: value }, '/deployment_timeout_seconds')
    }
    for (const value of [0, 1, 86_400]) await accepted({ ...valid(), deployment_timeout_seconds: value })
  })

  test('names of variables do not differ in case alone', async () => {
    await invalid({ ...valid(), variables: { region: 1, REGION: 2 } }, '/variables/REGION')
  })

  test('there are at most 1,000 variables', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]))
    await accepted({ ...valid(), variables: many(1_000) })
    await invalid({ ...valid(), variables: many(1_001) }, '/variables')
  })

  test('prompted values are of declared variables, by name or id, and of their type', async () => {
    await invalid({ ...valid(), prompted_values: { unheard: 1 } }, '/prompted_values/unheard')
    await invalid({ ...valid(), prompted_values: { [UNKNOWN]: 1 } }, `/prompted_values/${UNKNOWN}`)
    await invalid({ ...valid(), prompted_values: { level: 'high' } }, '/prompted_values/level')
    const { body } = await api.get(`/actions/${action_id}/versions/1.0.0`)
    const id = body.definition.variables[0].id
    expect(
      (await accepted({ ...valid(), variables: { level: 1 }, prompted_values: { [id]: 7 } })).variables.level,
    ).toBe(7)
    await invalid({ ...valid(), prompted_values: { [id]: 7, level: 7 } }, '/prompted_values/level')
  })

  test('a mistyped one is named, in create and redeploy', async () => {
    await invalid({ ...valid(), targets_ids: [] }, '/targets_ids')
    await invalid({ ...valid(), only_failed_targets: true }, '/only_failed_targets')
    for (const field of [
      'solution_id',
      'action_id',
      'version_requirement',
      'tenant_id',
      'dry_run',
      'target_tags_match_all',
    ]) {
      const answer = refusalOf(await api.post(`/deployments/${original}/redeploy`, { [field]: 'x' }))
      expect([answer.status, answer.code, pathsOf(answer)]).toEqual([400, 'VALIDATION_ERROR', [`/${field}`]])
    }
  })

  test('all that is wrong is told at once', async () => {
    const body = {
      ...valid(),
      sequence_id: action_id,
      target_ids: ['?'],
      priority: 500,
      max_retries: 11,
      variables: { 'a-b': 1 },
    }
    await invalid(
      { ...body, nothing: 1 },
      '/action_id',
      '/target_ids/0',
      '/priority',
      '/max_retries',
      '/variables/a-b',
      '/nothing',
    )
  })

  test('the body is an object of JSON', async () => {
    await invalid([], '')
    await invalid('"text"', '')
    for (const text of ['{', '', 'nothing']) {
      const answer = await api.call('POST', '/deployments', text, { 'content-type': 'application/json' })
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'INVALID_BODY' })
    }
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`
    const answer = await api.call('POST', '/deployments', `{"variables": {"a": ${deep}}}`)
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'INVALID_BODY' })
    const nul = refusalOf(await api.post('/deployments', { ...valid(), variables: { a: 'x\0' } }))
    expect([nul.status, nul.code]).toEqual([400, 'VALIDATION_ERROR'])
  })
})

describe('the source', () => {
  test('is exactly one of three', async () => {
    const { action_id: _, ...none } = valid()
    const { status, code } = await refused(none)
    expect([status, code]).toEqual([400, 'VALIDATION_ERROR'])
    for (const two of [
      { action_id, sequence_id: action_id },
      { action_id, solution_id: action_id },
      { sequence_id: action_id, solution_id: action_id },
      { action_id, sequence_id: action_id, solution_id: action_id },
    ]) {
      expect(await refused({ target_ids: [target.id], ...two })).toMatchObject({
        status: 400,
        code: 'VALIDATION_ERROR',
      })
    }
  })

  test('is named by UUID or SqId, and must be there', async () => {
    const { sqid } = (await api.get(`/actions/${action_id}`)).body
    const { source_name, source_type } = await accepted({ ...valid(), action_id: sqid })
    expect([source_type, source_name]).toEqual(['action', (await api.get(`/actions/${action_id}`)).body.name])
    for (const bad of ['', 'no', 7, null, `${action_id}0`]) await invalid({ ...valid(), action_id: bad }, '/action_id')
    for (const field of ['action_id', 'sequence_id', 'solution_id']) {
      const { action_id: _, ...rest } = valid()
      expect(await refused({ ...rest, [field]: UNKNOWN })).toEqual({
        status: 404,
        code: 'NOT_FOUND',
        details: { missing: [{ path: `/${field}`, id: UNKNOWN }] },
      })
    }
    // An action is no sequence, though its id exists.
    const { action_id: _, ...rest } = valid()
    expect(await refused({ ...rest, sequence_id: action_id })).toMatchObject({ status: 404 })
  })

  test('is taken in the version that satisfies, the latest without a requirement', async () => {
    const { body } = await api.post('/actions', {
      name: 'versions',
      version: '1.2.0',
      definition: { type: 'script', script: 'true' },
    })
    for (const version of ['2.1.0', '1.10.0', '2.0.5', '3.0.0-rc.1']) {
      await api.post(`/actions/${body.id}/versions`, { version, definition: { type: 'script', script: 'true' } })
    }
    const request = { ...valid(), action_id: body.id }
    const taken = async (version_requirement?: string) =>
      (await accepted({ ...request, ...(version_requirement === undefined ? {} : { version_requirement }) }))
        .source_version
    expect(await taken()).toBe('2.1.0')
    for (const [requirement, version] of [
      ['^1.2.0', '1.10.0'],
      ['~2.0', '2.0.5'],
      ['1.2.0', '1.2.0'],
      ['>=3.0.0-rc.0', '3.0.0-rc.1'],
      ['<2 || 9', '1.10.0'],
      ['*', '2.1.0'],
    ]) {
      expect([requirement, await taken(requirement)]).toEqual([requirement, version])
    }
    const none = await refused({ ...request, version_requirement: '^9' })
    expect([none.status, pathsOf(none)]).toEqual([400, ['/version_requirement']])
    for (const version of ['1.2.0', '2.1.0', '1.10.0', '2.0.5', '3.0.0-rc.1'])
      expect(JSON.stringify(none)).toContain(version)
    for (const bad of ['one', 5, null]) await invalid({ ...request, version_requirement: bad }, '/version_requirement')
  })
})

describe('the targets', () => {
  test('are given by id, by tag or both', async () => {
    const { target_ids: _, ...none } = valid()
    for (const body of [none, { ...none, target_ids: [] }, { ...none, target_tags: [] }]) {
      expect(await refused(body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    }
    for (const bad of [null, 'x', {}]) await invalid({ ...none, target_ids: bad }, '/target_ids')
    await invalid({ ...none, target_ids: ['?', 5] }, '/target_ids/0', '/target_ids/1')
    const missing = await refused({ ...none, target_ids: [target.id, UNKNOWN, target.sqid] })
    expect(missing).toMatchObject({ status: 404, details: { missing: [{ path: '/target_ids/1', id: UNKNOWN }] } })
  })

  test('count once, ids as given and then by name', async () => {
    const names = ['zeta', 'beta', 'alpha']
    const ids = await Promise.all(
      names.map((name) => createLocalTarget(api, { name, tags: [{ key: 'order', value: 'x' }] })),
    )
    const { plan, target_summary } = await accepted({
      action_id,
      target_ids: [target.sqid, target.id, ids[0]],
      target_tags: [{ key: 'order', value: 'x' }],
    })
    expect(plan.steps.map((step: { target_name: string }) => step.target_name)).toEqual([
      target.name,
      'zeta',
      'alpha',
      'beta',
    ])
    expect([plan.target_count, target_summary.total]).toEqual([4, 4])
  })

  test('by tag carry any pair, or all of them when asked', async () => {
    const tagged = (name: string, ...values: string[]) =>
      createLocalTarget(api, { name, tags: values.map((value) => ({ key: `k${value}`, value })) })
    await tagged('only-a', 'a')
    await tagged('a-and-b', 'a', 'b')
    const target_tags = [
      { key: 'ka', value: 'a' },
      { key: 'kb', value: 'b' },
    ]
    const chosen = async (more: Body) => {
      const { plan } = await accepted({ action_id, target_tags, ...more })
      return plan.steps.map((step: { target_name: string }) => step.target_name)
    }
    expect(await chosen({})).toEqual(['a-and-b', 'only-a'])
    expect(await chosen({ target_tags_match_all: false })).toEqual(['a-and-b', 'only-a'])
    expect(await chosen({ target_tags_match_all: true })).toEqual(['a-and-b'])
    for (const bad of ['true', 1, null])
      await invalid({ action_id, target_tags, target_tags_match_all: bad }, '/target_tags_match_all')
    await invalid({ action_id, target_tags: [{ key: 'ka', value: 'nothing' }] }, '/target_tags')
    await invalid({ action_id, target_tags: [{ key: 'ka' }] }, '/target_tags/0/value')
    await invalid({ action_id, target_tags: [{ key: 'ka', value: 'a', op: '=' }] }, '/target_tags/0/op')
    await invalid({ action_id, target_tags: [{ key: 'ka', value: 1 }] }, '/target_tags/0/value')
  })

  test('that are disabled are refused by id and passed over by tag', async () => {
    const tags = [{ key: 'half', value: 'on' }]
    const off = await createLocalTarget(api, { enabled: false, tags })
    await invalid({ action_id, target_ids: [target.id, off] }, '/target_ids/1')
    await invalid({ action_id, target_tags: tags }, '/target_tags')
    await createLocalTarget(api, { tags })
    expect((await accepted({ action_id, target_tags: tags })).plan.target_count).toBe(1)
  })

  test('are at most 10,000 ids and 100 tags', async () => {
    const ids = (count: number) => Array.from({ length: count }, () => target.id)
    expect((await accepted({ action_id, target_ids: ids(10_000) })).plan.target_count).toBe(1)
    await invalid({ action_id, target_ids: ids(10_001) }, '/target_ids')
    const tags = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ key: 'role', value: index === 0 ? 'web' : `${index}` }))
    await accepted({ action_id, target_tags: tags(100) })
    await invalid({ action_id, target_tags: tags(101) }, '/target_tags')
  })
})

describe('tenant and environment', () => {
  test('a tenant needs an environment, which must be there and fit', async () => {
    const tenant_id = (await api.post('/tenants', { name: 'Acme' })).body.id
    const other = (await api.post('/tenants', { name: 'Other' })).body.id
    const [own, foreign] = await Promise.all(
      [tenant_id, other].map(
        async (tenant) => (await api.post('/environments', { name: 'production', tenant_id: tenant })).body.id,
      ),
    )
    expect(await refused({ ...valid(), tenant_id })).toEqual({
      status: 400,
      code: 'MISSING_FIELD',
      details: { fields: ['environment_id'] },
    })
    const { plan } = await accepted({ ...valid(), tenant_id, environment_id: own })
    expect([plan.tenant_name, plan.environment_name]).toEqual(['Acme', 'production'])
    await accepted({ ...valid(), tenant_id, environment_id })
    await invalid({ ...valid(), tenant_id, environment_id: foreign }, '/environment_id')
    await invalid({ ...valid(), environment_id: own }, '/environment_id')
    expect(await refused({ ...valid(), tenant_id: UNKNOWN, environment_id: UNKNOWN })).toMatchObject({
      status: 404,
      details: {
        missing: expect.arrayContaining([
          { path: '/tenant_id', id: UNKNOWN },
          { path: '/environment_id', id: UNKNOWN },
        ]),
      },
    })
    for (const field of ['tenant_id', 'environment_id']) {
      await invalid({ ...valid(), environment_id: own, [field]: '?' }, `/${field}`)
    }
    const theirs = await createLocalTarget(api, { tenant_id: other })
    await invalid({ ...valid(), target_ids: [theirs], tenant_id, environment_id: own }, '/target_ids/0')
    const elsewhere = await createLocalTarget(api, { environment_id })
    await invalid({ ...valid(), target_ids: [elsewhere], tenant_id, environment_id: own }, '/target_ids/0')
  })
})

describe('freezes', () => {
  test('an override has a reason and an administrator', async () => {
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
    // With nothing frozen it is allowed, and with another thing wrong that comes first.
    await accepted({ ...valid(), override_freeze: true, override_reason: 'just in case' })
    await invalid({ ...valid(), override_freeze: true, priority: 101 }, '/override_reason', '/priority')
  })

  test('block create and redeploy alike, and a preview tells their end', async () => {
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
    // Without the role there is no override, frozen or not.
    await api.post('/admin/users', {
      email: 'olga@example.com',
      username: 'olga',
      display_name: 'Olga',
      password: 'correct horse battery',
      roles: ['operator'],
    })
    const olga = await loginToSuite({
      url: suite.url,
      admin: { email: 'olga@example.com', password: 'correct horse battery' },
    })
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

describe('what was previewed', () => {
  test('is what is started, or the difference is told', async () => {
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

  test('is warned of what nothing uses', async () => {
    const { warnings } = await accepted({ ...valid(), variables: { level: 3, levle: 4 } })
    expect(warnings).toEqual(['Variable "levle" is given and not used: no definition, script or template names it'])
  })
})

describe('a redeploy', () => {
  test('without a body repeats all; what is given replaces its part, and variables are merged', async () => {
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
    for (const value of ['true', 1, null]) expect((await refusal({ only_failed_targets: value })).status).toBe(400)
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
  }, 60_000)

  test('of a source that is gone is a conflict', async () => {
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
