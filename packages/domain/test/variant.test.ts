import { expect, test } from '@jest/globals'
import { variantOf } from '../src/index.ts'

const id = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const part = (action_version: string) => ({
  sequence_id: id(1),
  sequence_version: '1.0.0',
  action_id: id(2),
  action_version,
})
const solution = { type: 'solution', version: '1.0.0' } as const

test('a variant follows from the versions of all actions, and a single action has none', () => {
  expect(variantOf(solution, [part('1.0.0'), part('1.1.0')])).toBe('fa24ca6f1bcc4519')
  expect(variantOf(solution, [part('1.1.0'), part('1.0.0')])).not.toBe(
    variantOf(solution, [part('1.0.0'), part('1.1.0')]),
  )
  expect(variantOf({ ...solution, version: '2.0.0' }, [part('1.0.0')])).not.toBe(variantOf(solution, [part('1.0.0')]))
  expect(variantOf({ type: 'action', version: '1.0.0' }, [part('1.0.0')])).toBeNull()
})
