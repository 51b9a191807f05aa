import { expect, test } from '@jest/globals'
import { Random } from '../random.ts'
import { type Sample, studentQuantile, trendOf } from '../soak/trend.ts'

const MINUTES = 50
const PER_MINUTE = 6
const small = (mean: number) => Math.abs(mean) * 0.05

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
    () => 0,
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
      () => 0,
    )
    const isGrowing = trendOf(
      series((minute) => 100 + minute * 0.2 + 5 * noise(random)),
      () => 0,
    )
    if (isFlat.verdict !== 'flat') wrong += 1
    if (isGrowing.verdict !== 'growing') missed += 1
  }
  expect(wrong).toBeLessThan(25)
  expect(missed).toBeLessThan(5)
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
    if (trendOf(samples, () => 0).verdict !== 'flat') wrong += 1
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
    if (trendOf(times(0), () => 0).verdict !== 'growing') missed += 1
    if (trendOf(times(0), () => 0, speed).verdict !== 'flat') wrong += 1
    if (trendOf(times(0.2), () => 0, speed).verdict !== 'growing') missed += 1
  }
  expect(wrong).toBeLessThan(40)
  expect(missed).toBeLessThan(10)
})

test('a series of three minutes is too short for a verdict', () => {
  const samples = [0, 1, 2].map((minute) => ({ minute, value: minute * 100 }))
  expect(trendOf(samples, small).verdict).toBe('too short')
})

test('the quantiles of the t distribution match published tables', () => {
  for (const [freedom, quantile] of [
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [5, 2.571],
    [10, 2.228],
    [48, 2.011],
  ] as const) {
    expect(Math.abs(studentQuantile(freedom) / quantile - 1)).toBeLessThan(0.01)
  }
})
