import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  combineSelectors,
  type InstanceSelector,
  LABEL_OPERATORS,
  type LabelExpression,
  type MaybeSelector,
  matchesLabels,
  poolName,
  selectorText,
} from '../src/index.ts'

const KEYS = ['zone', 'disk']
const VALUES = ['a', 'b', 'c']
type Labels = Record<string, string>

/** All sets of labels over the keys. The value `other` stands for every value that no selector names. */
const EVERY_LABELS: Labels[] = KEYS.reduce<Labels[]>(
  (sets, key) => sets.flatMap((set) => [set, ...[...VALUES, 'other'].map((value) => ({ ...set, [key]: value }))]),
  [{}],
)

const expression: fc.Arbitrary<LabelExpression> = fc
  .record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom(...LABEL_OPERATORS),
    values: fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1 }),
  })
  .map(({ key, operator, values }) =>
    operator === 'In' || operator === 'NotIn' ? { key, operator, values } : { key, operator },
  )
const selector: fc.Arbitrary<MaybeSelector> = fc.option(
  fc.record<InstanceSelector>(
    {
      match_labels: fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES)),
      match_expressions: fc.array(expression, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
)

/** Evaluates each condition by the documented meaning of its operator. */
function meets(labels: Labels, one: MaybeSelector): boolean {
  const { match_labels = {}, match_expressions = [] } = one ?? {}
  return (
    Object.entries(match_labels).every(([key, value]) => labels[key] === value) &&
    match_expressions.every((condition) => {
      const value = labels[condition.key]
      if (!('values' in condition)) return (value !== undefined) === (condition.operator === 'Exists')
      const isListed = value !== undefined && condition.values.includes(value)
      return condition.operator === 'In' ? isListed : !isListed
    })
  )
}

test.each<[InstanceSelector, Labels, boolean]>([
  [{ match_labels: { zone: 'a' } }, { zone: 'a', disk: 'ssd' }, true],
  [{ match_labels: { zone: 'a' } }, { zone: 'b' }, false],
  [{ match_labels: { zone: 'a' } }, {}, false],
  [{ match_expressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, { zone: 'b' }, true],
  [{ match_expressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, { zone: 'a' }, false],
  [{ match_expressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, {}, true],
  [{ match_expressions: [{ key: 'gpu', operator: 'Exists' }] }, { gpu: '' }, true],
  [{ match_expressions: [{ key: 'gpu', operator: 'Exists' }] }, {}, false],
  [{ match_expressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }, {}, true],
  [{ match_expressions: [{ key: 'toString', operator: 'Exists' }] }, {}, false],
])('%j and the labels %j: %s', (one, labels, expected) => {
  expect(matchesLabels(one, labels)).toBe(expected)
})

test('null as a selector accepts any labels', () => {
  expect(EVERY_LABELS.every((labels) => matchesLabels(null, labels))).toBe(true)
})

test('a selector accepts the labels that meet each of its conditions', () => {
  fc.assert(
    fc.property(selector, (one) => {
      for (const labels of EVERY_LABELS) expect(matchesLabels(one, labels)).toBe(meets(labels, one))
    }),
  )
})

test('a combined selector accepts what all its selectors accept, and has conflicts if that is nothing', () => {
  fc.assert(
    fc.property(fc.array(selector, { maxLength: 4 }), (several) => {
      const combined = combineSelectors(several)
      const accepted = EVERY_LABELS.filter((labels) => several.every((one) => meets(labels, one)))
      expect(combined.conflicts.length > 0).toBe(accepted.length === 0)
      if (combined.conflicts.length > 0) return
      expect(EVERY_LABELS.filter((labels) => matchesLabels(combined.selector, labels))).toEqual(accepted)
    }),
  )
})

test('selectors that accept the same labels have the same canonical form', () => {
  const forms = new Map<string, string>()
  fc.assert(
    fc.property(fc.array(selector, { maxLength: 3 }), (several) => {
      const combined = combineSelectors(several)
      if (combined.conflicts.length > 0) return
      const accepted = JSON.stringify(EVERY_LABELS.filter((labels) => several.every((one) => meets(labels, one))))
      const form = JSON.stringify(combined.selector)
      expect(forms.get(accepted) ?? form).toBe(form)
      forms.set(accepted, form)
      expect(JSON.stringify(combineSelectors([combined.selector]).selector)).toBe(form)
      expect(JSON.stringify(combineSelectors([...several].reverse()).selector)).toBe(form)
    }),
  )
})

test('a conflict contains its key', () => {
  const zone = (value: string): InstanceSelector => ({ match_labels: { zone: value } })
  expect(combineSelectors([zone('a'), zone('b'), { match_labels: { disk: 'ssd' } }])).toEqual({
    selector: { match_labels: { disk: 'ssd' } },
    conflicts: ['zone'],
  })
  const gpu = (operator: 'Exists' | 'DoesNotExist'): InstanceSelector => ({
    match_expressions: [{ key: 'gpu', operator }],
  })
  expect(combineSelectors([gpu('Exists'), gpu('DoesNotExist')]).conflicts).toEqual(['gpu'])
})

test('the text of a selector has the syntax of Kubernetes', () => {
  const one: InstanceSelector = {
    match_labels: { zone: 'a', site: 'Berlin Mitte' },
    match_expressions: [
      { key: 'disk', operator: 'In', values: ['hdd', 'ssd'] },
      { key: 'env', operator: 'NotIn', values: ['prod'] },
      { key: 'env', operator: 'NotIn', values: ['prod', 'test'] },
      { key: 'gpu', operator: 'Exists' },
      { key: 'spot', operator: 'DoesNotExist' },
    ],
  }
  const text = 'zone=a,site="Berlin Mitte",disk in (hdd,ssd),env!=prod,env notin (prod,test),gpu,!spot'
  expect(selectorText(one)).toBe(text)
  expect(poolName(one)).toBe(text)
  expect(poolName(null)).toBe('any')
  expect(poolName({ match_labels: { zone: 'x'.repeat(200) } })).toHaveLength(120)
})
