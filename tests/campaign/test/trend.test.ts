import { expect, test } from '@jest/globals'
import { Random } from '../random.ts'
import { type Sample, studentQuantile, trendOf } from '../soak/trend.ts'

const MINUTES = 50
const PER_MINUTE = 6
const small = { negligible: (mean: number) => Math.abs(mean) * 0.05 }
const nothing = { negligible: () => 0 }

const series = (valueAt: (minute: number) => number): Sample[] =>
  Array.from({ length: MINUTES * PER_MINUTE }, (_, n) => ({
    minute: n / PER_MINUTE,
    value: valueAt(n / PER_MINUTE),
  }))

/** Nearly a normal distribution, with a deviation of 1. */
function noise(random: Random): number {
  return Array.from({ length: 12 }, () => random.next()).reduce((sum, value) => sum + value, -6)
}

test('a straight line has its slope per hour', () => {
  const { slope, low, high, mean, verdict } = trendOf(
    series((minute) => 100 + 2 * Math.floor(minute)),
    small,
  )
  expect(slope).toBeCloseTo(120)
  expect(low).toBeCloseTo(120)
  expect(high).toBeCloseTo(120)
  expect(mean).toBeCloseTo(149)
  expect(verdict).toBe('growing')
})

test('a known series has the slope and the interval of a textbook', () => {
  const values = [1, 3, 2, 5, 4]
  const trend = trendOf(
    values.map((value, minute) => ({ minute, value })),
    nothing,
  )
  // Slope 0.8 a minute, standard error sqrt(3.6 / 3 / 10), 3 degrees of freedom; the residuals do not resemble each other.
  expect(trend.slope / 60).toBeCloseTo(0.8)
  expect((trend.high - trend.slope) / 60).toBeCloseTo(3.182 * Math.sqrt(0.12), 1)
  expect(trend.verdict).toBe('flat')
})

test('a falling series is shrinking, and a constant series is flat', () => {
  expect(
    trendOf(
      series((minute) => 500 - minute),
      small,
    ).verdict,
  ).toBe('shrinking')
  expect(
    trendOf(
      series(() => 7),
      small,
    ).verdict,
  ).toBe('flat')
  expect(
    trendOf(
      series(() => 0),
      small,
    ).verdict,
  ).toBe('flat')
})

test('growth below the negligible part of the mean is flat', () => {
  expect(
    trendOf(
      series((minute) => 1_000 + (minute / 60) * 40),
      small,
    ).verdict,
  ).toBe('flat')
  expect(
    trendOf(
      series((minute) => 1_000 + (minute / 60) * 80),
      small,
    ).verdict,
  ).toBe('growing')
})

test('noise seldom counts as a trend, and a real trend is seldom missed', () => {
  let wrong = 0
  let missed = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const random = new Random(seed)
    const isFlat = trendOf(
      series(() => 100 + 5 * noise(random)),
      nothing,
    )
    const isGrowing = trendOf(
      series((minute) => 100 + minute * 0.2 + 5 * noise(random)),
      nothing,
    )
    if (isFlat.verdict !== 'flat') wrong += 1
    if (isGrowing.verdict !== 'growing') missed += 1
  }
  expect(wrong).toBeLessThan(25)
  expect(missed).toBeLessThan(5)
})

test('among many series without a trend, seldom one is wrong', () => {
  const together = 100
  let wrong = 0
  let missed = 0
  for (let soak = 0; soak < 8; soak += 1) {
    const random = new Random(soak)
    const verdicts = Array.from({ length: together }, () => {
      const samples = series(() => 100 + 5 * noise(random))
      return trendOf(samples, { ...nothing, together }).verdict
    })
    if (verdicts.some((verdict) => verdict !== 'flat')) wrong += 1
    const leak = series((minute) => 100 + minute * 0.2 + 5 * noise(random))
    if (trendOf(leak, { ...nothing, together }).verdict !== 'growing') missed += 1
  }
  // Without the correction for many series, each of these soaks would find a trend.
  expect(wrong).toBeLessThan(4)
  expect(missed).toBe(0)
})

test('autocorrelated noise seldom counts as a trend', () => {
  let wrong = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const random = new Random(seed)
    let now = 0
    const samples = Array.from({ length: MINUTES }, (_, minute) => {
      now = 0.6 * now + noise(random)
      return { minute, value: 100 + now }
    })
    if (trendOf(samples, nothing).verdict !== 'flat') wrong += 1
  }
  // Without the correction for autocorrelation, a third of these series would count as a trend.
  expect(wrong).toBeLessThan(40)
})

test('what the speed of the machine explains is no trend, and a trend is seen beside it', () => {
  let wrong = 0
  let missed = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const random = new Random(seed)
    const speed = series((minute) => 20 + (minute > 35 ? 3 : 0) + minute * 0.04 + noise(random))
    const times = (growth: number) =>
      speed.map(({ minute, value }) => ({
        minute,
        value: 30 * (value / 20) ** 2 + growth * minute + 2 * noise(random),
      }))
    if (trendOf(times(0), nothing).verdict !== 'growing') missed += 1
    if (trendOf(times(0), { ...nothing, floor: speed }).verdict !== 'flat') wrong += 1
    if (trendOf(times(0.2), { ...nothing, floor: speed }).verdict !== 'growing') missed += 1
  }
  expect(wrong).toBeLessThan(40)
  expect(missed).toBeLessThan(10)
})

test('a series of three minutes is too short for a verdict', () => {
  const samples = [0, 1, 2].map((minute) => ({ minute, value: minute * 100 }))
  expect(trendOf(samples, small).verdict).toBe('too short')
})

test('the quantiles of the t distribution match published tables', () => {
  for (const [freedom, tail, quantile] of [
    [1, 0.025, 12.706],
    [2, 0.025, 4.303],
    [3, 0.025, 3.182],
    [5, 0.025, 2.571],
    [10, 0.025, 2.228],
    [48, 0.025, 2.011],
    [1, 0.0005, 636.62],
    [2, 0.0005, 31.599],
    [30, 0.0005, 3.646],
    [60, 0.0005, 3.46],
  ] as const) {
    expect(Math.abs(studentQuantile(freedom, tail) / quantile - 1)).toBeLessThan(0.01)
  }
})
