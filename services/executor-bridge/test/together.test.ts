import { expect, test } from '@jest/globals'
import { together } from '../src/runs/together.ts'

test('what is asked in one turn, or while others are answered, is answered together, each by its own answer', async () => {
  const groups: number[] = []
  const releases: (() => void)[] = []
  const double = together(async (numbers: number[]) => {
    groups.push(numbers.length)
    await new Promise<void>((resolve) => releases.push(resolve))
    return numbers.map((n) => 2 * n)
  })
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
  // Three at a time: the late one joins those that still wait.
  expect(groups).toEqual([32, 32, 32, 32, 23])
})

test('no question fails for the sake of another', async () => {
  const half = together(async (numbers: number[]) => {
    if (numbers.includes(3)) throw new Error(`not 3, in ${numbers.length}`)
    return numbers.map((n) => n / 2)
  })
  const ends = await Promise.allSettled([2, 3, 4].map(half))
  expect(ends).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: new Error('not 3, in 1') },
    { status: 'fulfilled', value: 2 },
  ])
})
