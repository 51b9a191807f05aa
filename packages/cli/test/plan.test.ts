import { expect, test } from '@jest/globals'
import type { Schema } from '@slipway/client'
import { Output } from '../src/terminal/output.ts'
import { formatPlan } from '../src/terminal/plan.ts'
import { formatTime } from '../src/terminal/table.ts'
import { createIo } from './slipway.ts'

const one = { id: 'one', name: 'web-1' }
const two = { id: 'two', name: 'web-2' }
const step = ({ id, name }: typeof one) => ({
  target_id: id,
  target_name: name,
  sequence_name: 'greet',
  action_name: 'greet',
  action_version: '1.1.0',
})
const preview = (targets: (typeof one)[], fields: Partial<Schema<'Preview'>> = {}) =>
  ({
    plan: { steps: targets.map(step), tenant_name: null, environment_name: null },
    source_type: 'action',
    source_name: 'greet',
    source_version: '1.1.0',
    plan_hash: 'hash',
    warnings: [],
    target_summary: { total: targets.length, online: targets.length, stale: 0, offline: 0 },
    variables: {},
    replaces: [],
    unchanged_targets: [],
    blockers: [],
    earliest_start: null,
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

test('a plan shows what blocks the deployment, and until when', () => {
  const blocker = { message: 'as a warning says', can_override: false, details: {} }
  const until = '2026-03-14T10:00:00.000Z'
  const frozen = { ...blocker, code: 'freeze' as const, until, can_override: true }
  const blocked = (blockers: object[], earliest_start: string | null) => {
    const lines = show(preview([one], { blockers, earliest_start } as Partial<Schema<'Preview'>>))
    return lines.slice(lines.indexOf('blocked by') + 1, -2)
  }
  const time = formatTime(until)
  expect(blocked([frozen], until)).toEqual([`  freeze until ${time} (you may override it)`, `earliest start: ${time}`])
  expect(blocked([frozen, { ...blocker, code: 'target_lock', until: null }], null)).toEqual([
    `  freeze until ${time} (you may override it)`,
    '  target lock with no known end',
    'earliest start: not known',
  ])
  expect(show(preview([one], { blockers: [], earliest_start: until }))).not.toContain('blocked by')
})
