// What is masked of a sensitive value, and how much a deployment may have of it.
import { expect, test } from '@jest/globals'
import { type Plan, secretLimitProblem, secretTexts } from '../src/index.ts'

test('the scalars of JSON are secret if they have four characters, and keys are not', () => {
  const value = { password: 'hunter2', pin: 123456, port: 80, nested: [{ token: 'abc' }, true, 1.25, 'hunter2'] }
  const texts = ['hunter2', '123456', 'true', '1.25']
  expect(secretTexts(value)).toEqual(texts)
  expect(secretTexts(JSON.stringify(value, null, 2))).toEqual(texts)
  expect(secretTexts('{"id": 1001234567890123457, "rate": 12.50, "\\"55555": "66666"}')).toEqual(
    expect.arrayContaining(['1001234567890123457', '12.50', '66666']),
  )
  expect(secretTexts('{"55555": 1}')).toEqual([])
  expect(secretTexts('[no JSON')).toEqual(['[no JSON'])
  expect(secretTexts(12345)).toEqual(['12345'])
})

test('a deployment has at most 2,000 secrets and 256 KiB of them, and each text counts once', () => {
  const planOf = (values: unknown[]) =>
    ({
      sensitive: ['secret'],
      shared_variables: { open: 'x'.repeat(300_000), secret: 'same secret' },
      override_variables: {},
      actions: [],
      targets: values.map((secret) => ({ variables: { secret } })),
    }) as unknown as Plan
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => 10_000 + n)
  expect(secretLimitProblem(planOf([...numbers(1_999), ...numbers(1_999)]))).toBeNull()
  expect(secretLimitProblem(planOf([numbers(1_999)]))).toBeNull()
  expect(secretLimitProblem(planOf([numbers(2_000)]))?.message).toMatch(
    /^has 2001 secret values .* at most 2000 values/,
  )
  const large = ['a', 'b'].map((letter) => letter.repeat(128 * 1024 - 6))
  expect(secretLimitProblem(planOf(large))).toBeNull()
  expect(secretLimitProblem(planOf([...large, 'and one more']))?.message).toMatch(
    / at most 2000 values and 262144 bytes/,
  )
})
