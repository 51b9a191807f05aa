import { expect, test } from '@jest/globals'
import { currentContext, withContext } from '@slipway/runtime'
import { answerTogether } from '../src/index.ts'

const THREE = { maxGroups: 3, maxGroupSize: 32 }

test('concurrent calls are answered in groups, and each call gets its own answer', async () => {
  const groups: number[] = []
  const releases: (() => void)[] = []
  const double = answerTogether(async (numbers: readonly number[]) => {
    groups.push(numbers.length)
    await new Promise<void>((resolve) => releases.push(resolve))
    return numbers.map((n) => 2 * n)
  }, THREE)
  const release = async () => {
    while (releases.length === 0) await new Promise(setImmediate)
    releases.shift()?.()
  }
  const numbers = Array.from({ length: 150 }, (_, n) => n)
  const answers = Promise.all(numbers.map(double))
  await release()
  const late = double(1_000)
  for (let group = 1; group < 5; group += 1) await release()
  expect(await answers).toEqual(numbers.map((n) => 2 * n))
  expect(await late).toBe(2_000)
  // Three groups run at a time. The late call joins the calls that still wait.
  expect(groups).toEqual([32, 32, 32, 32, 23])
})

test('a failing call does not fail the other calls of its group', async () => {
  const half = answerTogether(async (numbers: readonly number[]) => {
    if (numbers.includes(3)) throw new Error(`not 3, in ${numbers.length}`)
    return numbers.map((n) => n / 2)
  }, THREE)
  const ends = await Promise.allSettled([2, 3, 4].map(half))
  expect(ends).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: new Error('not 3, in 1') },
    { status: 'fulfilled', value: 2 },
  ])
})

test('a lost connection fails all calls of a group at once, without a retry for each', async () => {
  let asked = 0
  const ask = answerTogether(async () => {
    asked += 1
    throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  }, THREE)
  const ends = await Promise.allSettled([2, 3, 4].map(ask))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(asked).toBe(1)
})

test('a group query runs without the context of its callers', async () => {
  const ask = answerTogether(async (of: readonly string[]) => of.map((one) => ({ one, ...currentContext() })), THREE)
  const answers = ['a', 'b'].map((one) => withContext({ request_id: one }, () => ask(one)))
  expect(await Promise.all(answers)).toEqual([{ one: 'a' }, { one: 'b' }])
})
