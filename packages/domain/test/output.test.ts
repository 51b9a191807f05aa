import { expect, test } from '@jest/globals'
import { outputTail } from '../src/index.ts'

test('the tail contains stdout and then stderr, with at most 2,000 characters', () => {
  expect(outputTail('', '')).toBeNull()
  expect(outputTail('done\n', '')).toBe('done\n')
  expect(outputTail('done\n', 'careful\n')).toBe('done\ncareful\n')
  expect(outputTail('no end of line', 'careful')).toBe('no end of line\ncareful')
  expect(outputTail('a'.repeat(3_000), `${'b'.repeat(1_990)}\n`)).toBe(`${'a'.repeat(8)}\n${'b'.repeat(1_990)}\n`)
  const cut = outputTail(`🚢${'a'.repeat(1_999)}`, '')
  expect(cut).toBe('a'.repeat(1_999))
})
