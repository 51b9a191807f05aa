import { expect, test } from '@jest/globals'
import { mutate } from '../mutants/copy.ts'
import { MUTANTS } from '../mutants/mutants.ts'

test.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
  'the source has each text that the mutant %s replaces',
  (_, mutant) => {
    expect(mutate(mutant)).not.toBe('')
    expect(mutant.edits.length).toBeGreaterThan(0)
  },
)

test('all mutants have different ids', () => {
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length)
})
