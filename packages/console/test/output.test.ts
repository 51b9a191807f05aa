// What people read of output and of sentences: colours, matches, progress bars, and code in backticks.
import { expect, test } from '@jest/globals'
import { quotedParts } from '../src/components/quoted-parts.ts'
import { ansiParts } from '../src/screens/deployment/ansi-parts.ts'
import { groupFailures, lastLines } from '../src/screens/deployment/failure-groups.ts'

const shown = (output: string, search?: string) =>
  ansiParts(output, search).map(({ text, classes, isMatch }) => [text, classes, ...(isMatch ? ['match'] : [])])

test('output keeps its colours, tabs and line breaks, and loses other control characters', () => {
  expect(shown('\u001b[1;31mred\u001b[0m\n\tplain\u0007')).toEqual([
    ['red', 'ansi-red bold'],
    ['\n\tplain', ''],
  ])
  expect(shown('\u001b]0;title\u0007text\u001b[K')).toEqual([['text', '']])
})

test('text after a carriage return replaces the text before it in its line', () => {
  expect(shown('10%\r20%\r100%\r\nnext\r')).toEqual([['100%\nnext', '']])
})

test('matches of a search are marked in any case, also across colours', () => {
  expect(shown('an ERR\u001b[31mOR: error', 'error')).toEqual([
    ['an ', ''],
    ['ERR', '', 'match'],
    ['OR', 'ansi-red', 'match'],
    [': ', 'ansi-red'],
    ['error', 'ansi-red', 'match'],
  ])
  expect(shown('a.b a+b', 'A+B')).toEqual([
    ['a.b ', ''],
    ['a+b', '', 'match'],
  ])
})

test('what stands between backticks is code, and no backtick remains', () => {
  expect(quotedParts('Look at `df -h`, then `du`')).toEqual([
    { text: 'Look at ', isCode: false },
    { text: 'df -h', isCode: true },
    { text: ', then ', isCode: false },
    { text: 'du', isCode: true },
  ])
  expect(quotedParts('one ` alone')).toEqual([
    { text: 'one ', isCode: false },
    { text: ' alone', isCode: false },
  ])
})

test('failures are grouped by kind, the most frequent first', () => {
  const failure = (id: string, fingerprint?: string) =>
    ({ id, action_name: 'a', exit_code: 1, ...(fingerprint ? { analysis: { fingerprint } } : {}) }) as never
  const groups = groupFailures([failure('1', 'x'), failure('2', 'y'), failure('3'), failure('4', 'y')])
  expect(groups.map(({ failures }) => failures.map(({ id }) => id))).toEqual([['2', '4'], ['1'], ['3']])
})

test('the last lines of an output do not count the line feed at its end', () => {
  expect(lastLines(Array.from({ length: 20 }, (_, line) => `${line}\n`).join('')).split('\n')).toHaveLength(12)
})
