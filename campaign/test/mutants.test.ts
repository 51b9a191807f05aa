import { expect, test } from '@jest/globals'
import { mutate } from '../mutants/build.ts'
import { MUTANTS } from '../mutants/mutants.ts'

test.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
  'the source still has the place of %s',
  (_, mutant) => {
    expect(mutate(mutant)).not.toBe('')
    expect(mutant.edits.length).toBeGreaterThan(0)
  },
)

test('each has a name of its own', () => {
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length)
})
