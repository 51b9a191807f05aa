import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLocalTarget } from '@slipway/testing'
import {
  accepted,
  action_id,
  api,
  type Body,
  environment_id,
  invalid,
  pathsOf,
  refused,
  start,
  stop,
  target,
  UNKNOWN,
  valid,
} from './create-rules.ts'

beforeAll(start)
afterAll(stop)

describe('the source', () => {
  test('is exactly one of an action, a sequence and a solution', async () => {
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

  test('is named by UUID or SqId, and must exist', async () => {
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
    // The id of an action is not accepted as a sequence.
    const { action_id: _, ...rest } = valid()
    expect(await refused({ ...rest, sequence_id: action_id })).toMatchObject({ status: 404 })
  })

  test('has the highest version that satisfies the requirement, or the latest one', async () => {
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
  test('are selected by id, by tag or by both', async () => {
    const { target_ids: _, ...none } = valid()
    for (const body of [none, { ...none, target_ids: [] }, { ...none, target_tags: [] }]) {
      expect(await refused(body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    }
    for (const bad of [null, 'x', {}]) await invalid({ ...none, target_ids: bad }, '/target_ids')
    await invalid({ ...none, target_ids: ['?', 5] }, '/target_ids/0', '/target_ids/1')
    const missing = await refused({ ...none, target_ids: [target.id, UNKNOWN, target.sqid] })
    expect(missing).toMatchObject({ status: 404, details: { missing: [{ path: '/target_ids/1', id: UNKNOWN }] } })
  })

  test('are deduplicated, in the order of the ids and then by name', async () => {
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

  test('by tag have any of the tags, or all of them with target_tags_match_all', async () => {
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

  test('that are disabled are refused by id and skipped by tag', async () => {
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
  test('a tenant needs an environment that exists and belongs to the tenant or to none', async () => {
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
