// Definitions as text, and the differences between two of them.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { definitionLines, parseDefinition } from '../src/screens/sources/definition-text.ts'
import { highlightLines } from '../src/screens/sources/highlight.ts'
import { diffLines } from '../src/screens/sources/line-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })

test('a difference shows or counts each line of both texts, and shows nothing of equal texts', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const parts = diffLines(before, after)
      const without = (sign: string) =>
        parts.reduce((sum, part) => {
          if (typeof part !== 'string') return sum + part.hidden
          return part.startsWith(sign) ? sum : sum + 1
        }, 0)
      const isSame = before.join('\n') === after.join('\n') && before.length === after.length
      expect(without('+')).toBe(isSame ? 0 : before.length)
      expect(without('-')).toBe(isSame ? 0 : after.length)
    }),
  )
  expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c'])).toEqual([' a', '-b', '+x', ' c'])
})

test('only unchanged lines far from a change are folded', () => {
  const same = Array.from({ length: 10 }, (_, n) => `line ${n}`)
  const folded = diffLines([...same, 'old', ...same], [...same, 'new', ...same])
  expect(folded[0]).toEqual({ hidden: 6 })
  expect(folded.at(-1)).toEqual({ hidden: 6 })
  expect(folded).toHaveLength(1 + 4 + 2 + 4 + 1)
})

test('texts with nothing in common are compared at once', () => {
  const text = (name: string) => Array.from({ length: 5_000 }, (_, n) => `${name} ${n}`)
  expect(diffLines(text('a'), text('b'))).toHaveLength(10_000)
})

test('a definition is read from YAML and JSON, or a problem with its line is told', () => {
  expect(parseDefinition('type: script\nscript: echo')).toEqual({ definition: { type: 'script', script: 'echo' } })
  expect(parseDefinition('{"type": "script"}')).toEqual({ definition: { type: 'script' } })
  expect(parseDefinition('type: script\nscript: [echo')).toMatchObject({
    problem: expect.stringContaining('at line 2'),
  })
  expect(parseDefinition('type: script\nversion: 1.10')).toEqual({
    problem: 'The value at line 2, column 10 would not arrive as it is written: write it in quotes',
  })
  expect(parseDefinition('- a')).toMatchObject({ problem: expect.stringContaining('Must consist of fields') })
})

test('a definition is shown with its script as lines and without the ids of variables', () => {
  const definition = { script: 'one\ntwo\n', variables: [{ id: 'x', name: 'colour' }] }
  expect(definitionLines(definition)).toEqual(['script: |', '  one', '  two', 'variables:', '  - name: colour'])
})

test('lines of a script are not highlighted like keys, and all text stays', () => {
  const shown = ['script: |', '  name: value', 'count: 3', 'type: script']
  const tokens = highlightLines(shown)
  expect(tokens.map((line) => line.map(({ text }) => text).join(''))).toEqual(shown)
  expect(tokens.map((line) => line.map(({ kind }) => kind))).toEqual([
    ['key', 'plain', 'plain'],
    ['plain'],
    ['key', 'plain', 'value'],
    ['key', 'plain', 'text'],
  ])
})
