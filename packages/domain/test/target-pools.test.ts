import { expect, test } from '@jest/globals'
import { type InstanceSelector, Problem, planSelector, type SelectingTarget, targetPools } from '../src/index.ts'

const zone = (value: string): InstanceSelector => ({ match_labels: { zone: value } })
const SSD: InstanceSelector = { match_labels: { disk: 'ssd' } }
const target = (name: string, ...selectors: InstanceSelector[]): SelectingTarget => ({
  id: `id-${name}`,
  name,
  selectors,
})

function refusalOf(scope: InstanceSelector[], targets: SelectingTarget[]) {
  try {
    planSelector(scope, targets)
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, message: error.message, details: error.details }
    throw error
  }
  throw new Error('was not refused')
}

test('a plan needs an instance that matches the selectors of all its targets and of its scope', () => {
  expect(planSelector([], [target('a'), target('b')])).toBeNull()
  expect(planSelector([SSD], [target('a', zone('a')), target('b'), target('c', zone('a'))])).toEqual({
    match_labels: { disk: 'ssd', zone: 'a' },
  })
})

test('targets of pools that exclude each other are refused, with the targets of each pool', () => {
  const targets = [target('a1', zone('a')), target('b', zone('b')), target('a2', zone('a'))]
  expect(refusalOf([SSD], targets)).toEqual({
    code: 'VALIDATION_ERROR',
    message:
      'The request is not valid: target_ids: no instance reaches all targets, because their instance selectors exclude ' +
      'each other in zone: deploy to each pool on its own: disk=ssd,zone=a ("a1", "a2"); disk=ssd,zone=b ("b")',
    details: {
      errors: [{ path: '/target_ids', message: expect.stringContaining('exclude each other in zone') }],
      pools: [
        {
          pool: 'disk=ssd,zone=a',
          target_count: 2,
          targets: [
            { id: 'id-a1', name: 'a1' },
            { id: 'id-a2', name: 'a2' },
          ],
        },
        { pool: 'disk=ssd,zone=b', target_count: 1, targets: [{ id: 'id-b', name: 'b' }] },
      ],
    },
  })
})

test('a target that no instance can match is reported with its conflicting selectors', () => {
  const { details } = refusalOf([], [target('a', zone('a')), target('b', zone('b'), zone('c'))])
  const message =
    'no instance matches the instance selectors of target "b" with its environment and tenant: zone=b and zone=c; correct one of them'
  expect(details).toEqual({ errors: [{ path: '/target_ids', message }] })
  expect(refusalOf([zone('a')], [target('b', zone('b'))]).message).toContain('target "b"')
  expect(refusalOf([zone('a'), zone('b')], [target('b')]).message).toContain('of environment and tenant together')
})

test('too many combined conditions are refused', () => {
  const targets = Array.from({ length: 200 }, (_, n) =>
    target(`t${n}`, { match_expressions: [{ key: `key-${n}`, operator: 'NotIn', values: ['x'.repeat(100)] }] }),
  )
  expect(refusalOf([], targets).message).toContain('too many conditions')
})

test('the pools of targets include the selectors of the scope', () => {
  const [a1, a2, none] = [target('a1', zone('a')), target('a2', zone('a')), target('b')]
  expect(targetPools([SSD], [a1, none, a2])).toEqual([
    { selector: { match_labels: { disk: 'ssd', zone: 'a' } }, targets: [a1, a2] },
    { selector: SSD, targets: [none] },
  ])
})
