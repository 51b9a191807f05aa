import { expect, test } from '@jest/globals'
import { KINDS, planRound } from '../plan.ts'
import { Random } from '../random.ts'

const OPTIONS = { workMs: 120_000, faults: 180 }

test('equal seeds give equal plans, and different seeds give different plans', () => {
  expect(planRound(7, OPTIONS)).toEqual(planRound(7, OPTIONS))
  expect(planRound(8, OPTIONS).faults).not.toEqual(planRound(7, OPTIONS).faults)
})

test('faults are ordered by time, begin within the round, and do not overlap with their family on one target', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const { faults } = planRound(seed, OPTIONS)
    expect(faults.length).toBeGreaterThan(100)
    const ends = new Map<string, number>()
    let last = 0
    const wrong = faults.filter(({ at, family, target, durationMs }) => {
      const place = `${family} ${target}`
      const isOrdered = at >= last && at <= OPTIONS.workMs && (ends.get(place) ?? 0) <= at
      last = at
      ends.set(place, at + durationMs)
      return !isOrdered
    })
    expect(wrong).toEqual([])
  }
})

test('500 plans contain every kind of fault on every target', () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 500; seed += 1) {
    for (const { family, kind, target } of planRound(seed, OPTIONS).faults) seen.add(`${family} ${kind} ${target}`)
  }
  const all = KINDS.flatMap(({ family, kind, targets }) => targets.map((target) => `${family} ${kind} ${target}`))
  expect(all.filter((one) => !seen.has(one))).toEqual([])
})

test('random integers are distributed evenly', () => {
  const random = new Random(1)
  const counts = new Array<number>(10).fill(0)
  for (let n = 0; n < 100_000; n += 1) {
    const drawn = random.integer(0, 9)
    counts[drawn] = (counts[drawn] ?? 0) + 1
  }
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
})
