import { expect, test } from '@jest/globals'
import type { Schema } from '@slipway/client'
import { Output } from '../src/terminal/output.ts'
import { formatPlan } from '../src/terminal/plan.ts'
import { createIo } from './slipway.ts'

const one = { id: 'one', name: 'web-1' }
const two = { id: 'two', name: 'web-2' }
const step = ({ id, name }: typeof one) => ({
  ...{ target_id: id, target_name: name, sequence_name: 'greet', action_name: 'greet', action_version: '1.1.0' },
})
const preview = (targets: (typeof one)[], fields: Partial<Schema<'Preview'>> = {}) =>
  ({
    plan: { steps: targets.map(step), tenant_name: null, environment_name: null },
    ...{ source_type: 'action', source_name: 'greet', source_version: '1.1.0', plan_hash: 'hash', warnings: [] },
    target_summary: { total: targets.length, online: targets.length, stale: 0, offline: 0 },
    ...{ variables: {}, replaces: [], unchanged_targets: [] },
    ...fields,
  }) as unknown as Schema<'Preview'>
const show = (plan: Schema<'Preview'>) => formatPlan(plan, new Output(createIo().io, 'table'))

test('a plan shows the version of each action', () => {
  expect(show(preview([one, two]))).toContain('  1. greet 1.1.0')
})

test('a plan lists its unchanged targets and what it replaces', () => {
  const first = { deployment_id: null, version: null, applied_at: null, applied_by: null, difference: null }
  const replaces = [{ ...first, target_count: 1, targets: [one], unchanged_count: 0 }]
  const lines = show(preview([one, two], { unchanged_targets: [two], replaces }))
  expect(lines).toContain(
    'unchanged: 1 target with the same versions and values (--only-changed leaves them out): web-2',
  )
  expect(lines.slice(lines.indexOf('replaces'))).toEqual([
    'replaces',
    '  nothing -> 1.1.0 on 1 target: web-1',
    '',
    'to deploy exactly this plan: --expect-plan hash',
  ])
})

test('a plan of --only-changed lists the targets that are left out', () => {
  const lines = show(preview([one], { unchanged_targets: [two], replaces: [] }))
  expect(lines).toContain('left out: 1 target with the same versions and values: web-2')
  expect(lines).not.toContain('replaces')
})
