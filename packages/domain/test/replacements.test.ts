import { describe, expect, test } from '@jest/globals'
import {
  type ComparedPlan,
  comparedDeployments,
  planDifference,
  type ReplacedTarget,
  replacements,
} from '../src/index.ts'

const action = (id: string, version: string, variables = {}): ComparedPlan['actions'][number] => ({
  sequence_id: 'sequence',
  sequence_name: 'sequence',
  sequence_version: '1.0.0',
  sequence_order: 0,
  action_id: id,
  action_name: id,
  action_version: version,
  action_order: 0,
  timeout_seconds: 1,
  max_retries: 0,
  has_rollback: false,
  variables,
})

const plan = (version: string, actions: ComparedPlan['actions'], fields: Partial<ComparedPlan> = {}): ComparedPlan => ({
  source: { type: 'solution', id: 'shop', name: 'shop', version },
  tenant: null,
  environment: null,
  shared_variables: {},
  override_variables: {},
  sensitive: [],
  sealed_under: 'command',
  options: {
    target_mode: 'parallel',
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'none',
    priority: 0,
    timeout_seconds: 1,
    max_retries: 0,
    deployment_timeout_seconds: 0,
    bypass_cache: false,
  },
  ...fields,
  actions,
})

describe('the difference of two plans', () => {
  test('is empty for equal plans', () => {
    const one = plan('1.0.0', [action('copy', '1.0.0', { a: { x: 1, y: 2 } })])
    const same = plan('1.0.0', [action('copy', '1.0.0', { a: { y: 2, x: 1 } })])
    expect(planDifference(one, same)).toEqual({ versions: [], variables: [] })
  })

  test('contains changed, added and removed parts', () => {
    const before = plan('1.0.0', [action('copy', '1.0.0'), action('check', '1.0.0')])
    const after = plan('2.0.0', [action('copy', '1.1.0'), action('warm', '1.0.0')])
    expect(planDifference(before, after).versions).toEqual([
      { kind: 'solution', id: 'shop', name: 'shop', before: '1.0.0', after: '2.0.0' },
      { kind: 'action', id: 'copy', name: 'copy', before: '1.0.0', after: '1.1.0' },
      { kind: 'action', id: 'warm', name: 'warm', before: null, after: '1.0.0' },
      { kind: 'action', id: 'check', name: 'check', before: '1.0.0', after: null },
    ])
  })

  test('compares values after masking and distinguishes a missing value from null', () => {
    const before = plan('1.0.0', [action('copy', '1.0.0', { gone: 1, none: null })], {
      sensitive: ['token'],
      override_variables: { token: 'first', colour: 'blue' },
    })
    const after = plan('1.0.0', [action('copy', '1.0.0', { fresh: null })], {
      sensitive: ['token'],
      override_variables: { token: 'second', colour: 'red' },
    })
    expect(planDifference(before, after).variables).toEqual([
      { name: 'colour', before: 'blue', after: 'red' },
      { name: 'fresh', after: null },
      { name: 'gone', before: 1 },
      { name: 'none', before: null },
    ])
  })
})

describe('replacements', () => {
  const applied_at = new Date('2026-01-31T09:00:00Z')
  const target = (id: string, deployment: string | null, hashes: [string | null, string | null] = [null, null]) =>
    ({
      id,
      name: id,
      values_hash: hashes[0],
      replaced: deployment && {
        deployment_id: deployment,
        version: '1.0.0',
        applied_at,
        applied_by: 'ada',
        values_hash: hashes[1],
      },
    }) as ReplacedTarget

  test('group the targets by the release in force, the largest group first', () => {
    const targets = [
      target('t1', null),
      target('t2', 'd1', ['h', 'h']),
      target('t3', 'd1', ['h', 'other']),
      target('t4', 'd1'),
      target('t5', 'd2'),
    ]
    expect(comparedDeployments(targets)).toEqual(['d1', 'd2'])
    const now = plan('2.0.0', [])
    const found = replacements(targets, now, new Map([['d1', plan('1.0.0', [])]]))
    expect(found).toMatchObject([
      { deployment_id: 'd1', target_count: 3, unchanged_count: 1, difference: { versions: [{ after: '2.0.0' }] } },
      { deployment_id: null, version: null, applied_at: null, target_count: 1, difference: null },
      { deployment_id: 'd2', target_count: 1, difference: null },
    ])
  })

  test('contain the first hundred targets and compare the twenty largest groups', () => {
    const many = Array.from({ length: 150 }, (_, n) => target(`t${n}`, 'd'))
    expect(replacements(many, plan('1.0.0', []), new Map())).toMatchObject([{ target_count: 150 }])
    expect(replacements(many, plan('1.0.0', []), new Map())[0]?.targets).toHaveLength(100)
    const spread = Array.from({ length: 30 }, (_, n) => target(`t${n}`, `d${n}`))
    expect(comparedDeployments(spread)).toHaveLength(20)
  })
})
