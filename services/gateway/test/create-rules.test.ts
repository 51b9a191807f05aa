import { describe, expect, test } from '@jest/globals'
import type { Problem } from '@slipway/domain'
import { createRules, redeployRules } from '../src/deployments/request-rules.ts'
import { validate } from '../src/http/validation.ts'
import { UNKNOWN_ID } from './setup.ts'

type Body = Record<string, unknown>

const RULES = {
  createDeployment: createRules,
  previewDeployment: createRules,
  redeployDeployment: redeployRules,
}
const VALID: Body = { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID] }

/** The code and the paths or missing fields of the refusal, or null if the body is accepted. */
function refusalOf(id: keyof typeof RULES, body: unknown): string[] | null {
  try {
    validate(id, { search: '', headers: {}, body: { value: body, text: JSON.stringify(body) ?? '' } }, RULES[id])
    return null
  } catch (error) {
    const { code, details = {} } = error as Problem
    const { errors = [], fields = [] } = details as { errors?: { path: string }[]; fields?: string[] }
    return [code, ...new Set([...errors.map(({ path }) => path), ...fields].sort())]
  }
}

/** Expects that create and preview refuse the body at exactly these paths. */
function invalid(body: unknown, ...paths: string[]): void {
  for (const id of ['createDeployment', 'previewDeployment'] as const) {
    expect({ id, body, refusal: refusalOf(id, body) }).toEqual({
      id,
      body,
      refusal: ['VALIDATION_ERROR', ...paths.sort()],
    })
  }
}

function accepted(body: unknown): void {
  for (const id of ['createDeployment', 'previewDeployment'] as const) {
    expect({ id, body, refusal: refusalOf(id, body) }).toEqual({ id, body, refusal: null })
  }
}

/** A variable with so many bytes in an environment, its name included. */
const sized = (bytes: number) => ({ v: 'é'.repeat((bytes - 'SLIPWAY_VAR_V='.length) / 2) })

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]))
const repeated = (count: number, item: unknown) => Array.from({ length: count }, () => item)
const tag = { key: 'role', value: 'web' }
const NO_FLAG = ['true', 1, null]
const NO_ID = ['', 'no', 7, null, `${UNKNOWN_ID}0`]

/** The fields that create and redeploy share, with refused and accepted values. */
const SHARED: [field: string, refused: unknown[], accepted: unknown[]][] = [
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
  ['bypass_cache', NO_FLAG, [true, false]],
  ['strict', NO_FLAG, [true, false]],
  ['only_changed', NO_FLAG, [true, false]],
  ['override_freeze', NO_FLAG, [false]],
  ['override_reason', ['', '  ', 5, null], ['of no use without an override']],
  ['expected_plan_hash', ['', 'x', 5, null, 'p1.key.tooshort'], [`p1.key.${'0'.repeat(12)}`]],
  ['environment_id', NO_ID, [UNKNOWN_ID]],
  ['target_ids', [null, 'x', {}, ['?'], repeated(10_001, UNKNOWN_ID)], [repeated(10_000, UNKNOWN_ID)]],
  [
    'target_tags',
    [null, 'x', [{ key: 'role' }], [{ ...tag, op: '=' }], [{ key: 'role', value: 1 }], repeated(101, tag)],
    [repeated(100, tag)],
  ],
  [
    'variables',
    [
      [],
      'a',
      null,
      { 'a-b': 1 },
      { '': 1 },
      { 'a b': 1 },
      { ä: 1 },
      { a: { $sealed: 'x' } },
      { a: 'x\0' },
      many(1_001),
      sized(122_882),
    ],
    [{}, { a: null, B_2: [1], '3d': {} }, many(1_000), sized(122_880)],
  ],
  ['prompted_values', [[], 'a', null, { 'a-b': 1 }], [{}, { level: 5, [UNKNOWN_ID]: 5 }]],
]

test.each(SHARED)('%s has its bounds, in create and in redeploy', (field, bad, good) => {
  const itself = [expect.stringMatching(new RegExp(`^/${field}(/|$)`))]
  for (const value of bad) {
    const refusals = [
      refusalOf('createDeployment', { ...VALID, [field]: value }),
      refusalOf('previewDeployment', { ...VALID, [field]: value }),
      refusalOf('redeployDeployment', { [field]: value }),
    ]
    const expected = ['VALIDATION_ERROR', ...itself]
    expect({ value, refusals }).toEqual({ value, refusals: [expected, expected, expected] })
  }
  for (const value of good) {
    accepted({ ...VALID, [field]: value })
    expect({ value, refusal: refusalOf('redeployDeployment', { [field]: value }) }).toEqual({ value, refusal: null })
  }
})

describe('a create', () => {
  test.each<[field: string, refused: unknown[], accepted: unknown[]]>([
    ['action_id', NO_ID, [UNKNOWN_ID]],
    ['tenant_id', NO_ID, [UNKNOWN_ID]],
    ['version_requirement', ['one', 5, null], ['^1.2.0', '<2 || 9', '*']],
    ['deployment_timeout_seconds', [-1, 0.5, '0', null], [0, 1, 86_400]],
    ['target_tags_match_all', NO_FLAG, [true, false]],
  ])('%s has its bounds', (field, bad, good) => {
    const whole = { ...VALID, environment_id: UNKNOWN_ID }
    for (const value of bad) invalid({ ...whole, [field]: value }, `/${field}`)
    for (const value of good) accepted({ ...whole, [field]: value })
  })

  test('names exactly one source', () => {
    const { action_id: _, ...none } = VALID
    invalid(none, '/solution_id')
    invalid({ ...none, action_id: UNKNOWN_ID, sequence_id: UNKNOWN_ID }, '/action_id')
    invalid({ ...none, action_id: UNKNOWN_ID, solution_id: UNKNOWN_ID }, '/action_id')
    invalid({ ...none, sequence_id: UNKNOWN_ID, solution_id: UNKNOWN_ID }, '/sequence_id')
    for (const field of ['action_id', 'sequence_id', 'solution_id']) accepted({ ...none, [field]: UNKNOWN_ID })
  })

  test('selects targets by id, by tag or by both', () => {
    const { target_ids: _, ...none } = VALID
    for (const selection of [{}, { target_ids: [] }, { target_tags: [] }, { target_ids: [], target_tags: [] }]) {
      invalid({ ...none, ...selection }, '/target_ids')
    }
    accepted({ ...none, target_tags: [tag] })
    accepted({ ...VALID, target_tags: [tag] })
    accepted({ ...VALID, target_tags: [] })
  })

  test('has its versions by a requirement or by a deployment', () => {
    accepted({ ...VALID, versions_of: UNKNOWN_ID })
    invalid({ ...VALID, versions_of: 'x' }, '/versions_of')
    invalid({ ...VALID, versions_of: UNKNOWN_ID, version_requirement: '^1.0.0' }, '/versions_of')
  })

  test('needs an environment for a tenant, and a reason for an override', () => {
    expect(refusalOf('createDeployment', { ...VALID, tenant_id: UNKNOWN_ID })).toEqual([
      'MISSING_FIELD',
      'environment_id',
    ])
    expect(refusalOf('createDeployment', { ...VALID, override_freeze: true })).toEqual([
      'MISSING_FIELD',
      'override_reason',
    ])
    invalid({ ...VALID, override_freeze: true, priority: 101 }, '/override_reason', '/priority')
    accepted({ ...VALID, override_freeze: true, override_reason: 'just in case' })
  })

  test('is refused with all wrong fields at once, and a mistyped field by its name', () => {
    invalid({ ...VALID, targets_ids: [] }, '/targets_ids')
    invalid({ ...VALID, only_failed_targets: true }, '/only_failed_targets')
    invalid(
      {
        ...VALID,
        ...{ sequence_id: UNKNOWN_ID, target_ids: ['?', 5], priority: 500, variables: { 'a-b': 1 }, nothing: 1 },
      },
      ...['/action_id', '/target_ids/0', '/target_ids/1', '/priority', '/variables/a-b', '/nothing'],
    )
    invalid([], '')
  })
})

describe('a redeploy', () => {
  test.each(['solution_id', 'action_id', 'version_requirement', 'tenant_id', 'target_tags_match_all'])(
    'cannot change %s',
    (field) => {
      expect(refusalOf('redeployDeployment', { [field]: UNKNOWN_ID })).toEqual(['VALIDATION_ERROR', `/${field}`])
    },
  )

  test('may leave out every field, and needs a reason for an override', () => {
    expect(refusalOf('redeployDeployment', {})).toBeNull()
    expect(refusalOf('redeployDeployment', { override_freeze: true })).toEqual(['MISSING_FIELD', 'override_reason'])
    for (const field of ['only_failed_targets', 'dry_run']) {
      for (const value of NO_FLAG) {
        expect(refusalOf('redeployDeployment', { [field]: value })).toEqual(['VALIDATION_ERROR', `/${field}`])
      }
      expect(refusalOf('redeployDeployment', { [field]: true })).toBeNull()
    }
  })
})
