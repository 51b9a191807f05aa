import { expect, test } from '@jest/globals'
import { formatSelector, parseSelector, SelectorSyntaxError } from '../src/index.ts'

test.each([
  ['zone=a', { match_labels: { zone: 'a' } }],
  ['zone == a , site="Berlin, Mitte"', { match_labels: { zone: 'a', site: 'Berlin, Mitte' } }],
  ['zone=', { match_labels: { zone: '' } }],
  ['disk in (hdd, ssd)', { match_expressions: [{ key: 'disk', operator: 'In', values: ['hdd', 'ssd'] }] }],
  ['env!=prod', { match_expressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] }],
  ['env notin (prod,test)', { match_expressions: [{ key: 'env', operator: 'NotIn', values: ['prod', 'test'] }] }],
  [
    'gpu, !spot',
    {
      match_expressions: [
        { key: 'gpu', operator: 'Exists' },
        { key: 'spot', operator: 'DoesNotExist' },
      ],
    },
  ],
  // Both conditions stay, so the server detects that they exclude each other.
  [
    'zone=a,zone=b',
    { match_labels: { zone: 'a' }, match_expressions: [{ key: 'zone', operator: 'In', values: ['b'] }] },
  ],
  ['  ', null],
])('%s is parsed, and its formatted text parses to the same selector', (text, selector) => {
  expect(parseSelector(text)).toEqual(selector)
  expect(parseSelector(formatSelector(parseSelector(text)))).toEqual(selector)
})

test.each([
  ['zone=a disk=b', 'Expected a comma between conditions at "disk=b"'],
  ['zone in a', 'Expected values in parentheses at "a"'],
  ['zone in (a', 'Expected a closing parenthesis at the end'],
  ['=a', 'Expected a label at "=a"'],
  ['zone=a,', 'Expected a label at the end'],
])('%s is refused: %s', (text, message) => {
  expect(() => parseSelector(text)).toThrow(new SelectorSyntaxError(message))
})
