import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  accepted,
  action_id,
  api,
  invalid,
  original,
  pathsOf,
  refusalOf,
  refused,
  start,
  stop,
  UNKNOWN,
  valid,
} from './create-rules.ts'

beforeAll(start)
afterAll(stop)

/** The fields that create and redeploy share, with refused and accepted values. */
const FIELDS: [field: string, refused: unknown[], accepted: unknown[]][] = [
  ['priority', [-101, 101, 0.5, '1', true, null], [-100, 0, 100]],
  ['timeout_seconds', [0, -1, 86_401, 1.5, '1', null], [1, 86_400]],
  ['max_retries', [-1, 11, 0.5, '1', null], [0, 10]],
  [
    'target_mode',
    [
      ...['serial', '', 1, null, [], {}, { rolling: {} }, { rolling: 1 }],
      ...[0, -1, 1.5, '1'].map((batch_size) => ({ rolling: { batch_size } })),
      { rolling: { batch_size: 1, more: 1 } },
      { rolling: { batch_size: 1 }, sequential: true },
    ],
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

  test('names of variables must differ in more than case', async () => {
    await invalid({ ...valid(), variables: { region: 1, REGION: 2 } }, '/variables/REGION')
  })

  test('there are at most 1,000 variables', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]))
    await accepted({ ...valid(), variables: many(1_000) })
    await invalid({ ...valid(), variables: many(1_001) }, '/variables')
  })

  test('prompted values must belong to declared variables, by name or id, and have their type', async () => {
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

  test('a mistyped field is refused by name, in create and redeploy', async () => {
    await invalid({ ...valid(), targets_ids: [] }, '/targets_ids')
    await invalid({ ...valid(), only_failed_targets: true }, '/only_failed_targets')
    for (const field of ['solution_id', 'action_id', 'version_requirement', 'tenant_id', 'target_tags_match_all']) {
      const answer = refusalOf(await api.post(`/deployments/${original}/redeploy`, { [field]: 'x' }))
      expect([answer.status, answer.code, pathsOf(answer)]).toEqual([400, 'VALIDATION_ERROR', [`/${field}`]])
    }
  })

  test('one answer names all wrong fields', async () => {
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

  test('the body must be a JSON object', async () => {
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
