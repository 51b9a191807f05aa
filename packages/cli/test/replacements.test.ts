import { expect, test } from '@jest/globals'
import type { Schema } from '@slipway/client'
import { formatReplacements } from '../src/terminal/replacements.ts'
import { formatTime } from '../src/terminal/table.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const targets = (...names: string[]) => names.map((name) => ({ id: name, name }))
const before = {
  deployment_id: ID,
  version: '1.0.0',
  applied_at: '2026-11-23T10:00:00.000Z',
  applied_by: 'ann',
  target_count: 2,
  targets: targets('web-1', 'web-2'),
  unchanged_count: 0,
  difference: { versions: [], variables: [] },
} satisfies Schema<'Replacement'>
const applied = `  applied ${formatTime('2026-11-23T10:00:00Z')} by ann, deployment ${ID}`

test('a replacement shows targets, versions of parts and differing variables', () => {
  const difference = {
    versions: [
      { kind: 'solution' as const, id: '1', name: 'shop', before: '1.0.0', after: '1.1.0' },
      { kind: 'action' as const, id: '2', name: 'warm', before: null, after: '2.0.0' },
    ],
    variables: [
      { name: 'port', before: 80, after: 81 },
      { name: 'limits', before: { cpu: 1, memory: 2 }, after: { cpu: 1, memory: 4 } },
      { name: 'token', before: '***' },
    ],
  }
  expect(formatReplacements([{ ...before, difference }], '1.1.0')).toEqual([
    '1.0.0 -> 1.1.0 on 2 targets: web-1, web-2',
    applied,
    '  solution shop: 1.0.0 -> 1.1.0',
    '  action warm: none -> 2.0.0',
    '  port: 80 -> 81',
    '  limits.memory: 2 -> 4',
    '  token: "***" -> none',
  ])
})

test('a first release replaces nothing, and five of many targets are named', () => {
  const first = { deployment_id: null, version: null, applied_at: null, applied_by: null, difference: null }
  const many = { target_count: 300, targets: targets('a', 'b', 'c', 'd', 'e', 'f') }
  expect(formatReplacements([{ ...before, ...first, ...many }], '1.1.0')).toEqual([
    'nothing -> 1.1.0 on 300 targets: a, b, c, d, e and 295 more',
  ])
})

test.each([
  [{ unchanged_count: 2 }, ['the same versions with the same values']],
  [
    { unchanged_count: 1 },
    [
      'the same versions with the same values on 1 of them',
      'no difference in versions and variables; secrets and variables of targets may differ',
    ],
  ],
  [{ difference: null }, ['not compared: retention has deleted that deployment, or 20 others have more targets']],
])('explains %j', (fields, lines) => {
  expect(formatReplacements([{ ...before, ...fields }], '1.0.0')).toEqual([
    '1.0.0 -> 1.0.0 on 2 targets: web-1, web-2',
    applied,
    ...lines.map((line) => `  ${line}`),
  ])
})
