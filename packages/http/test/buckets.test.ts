import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LocalBuckets, takeFromBucket } from '../src/limits/bucket.ts'
import type { Rate } from '../src/limits/settings.ts'

const START = 1_700_000_000_000_000
const rates = fc.record({ rps: fc.integer({ min: 1, max: 100_000 }), burst: fc.integer({ min: 1, max: 500 }) })
const gaps = fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 1, maxLength: 600 })

/** The times of the requests that pass, from the gaps between all requests. */
function passes(rate: Rate, gapsUs: number[]): number[] {
  let [now, full] = [START, 0]
  const passed: number[] = []
  for (const gap of gapsUs) {
    now += gap
    const step = takeFromBucket(full, now, rate)
    full = step.full
    if (step.waitUs === 0) passed.push(now)
  }
  return passed
}

describe('a bucket', () => {
  test('passes in any period at most the burst and the refill of that period', () => {
    fc.assert(
      fc.property(rates, gaps, (rate, gapsUs) => {
        const passed = passes(rate, gapsUs)
        const interval = Math.floor(1_000_000 / rate.rps)
        for (let from = 0; from < passed.length; from += 7) {
          for (let to = from; to < passed.length; to += 5) {
            const time = (passed[to] as number) - (passed[from] as number)
            expect(to - from + 1).toBeLessThanOrEqual(rate.burst + Math.floor(time / interval))
          }
        }
      }),
    )
  })

  test('passes every request at the rate', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 300 }), (rate, count) => {
        const gap = Math.ceil(1_000_000 / rate.rps)
        expect(passes(rate, Array(count).fill(gap))).toHaveLength(count)
      }),
    )
  })

  test('passes exactly the burst at one moment', () => {
    fc.assert(
      fc.property(rates, (rate) => expect(passes(rate, Array(rate.burst + 3).fill(0))).toHaveLength(rate.burst)),
    )
  })

  test('passes a request when the waiting time is over, and not before', () => {
    fc.assert(
      fc.property(rates, (rate) => {
        let full = 0
        for (let n = 0; n < rate.burst; n++) full = takeFromBucket(full, START, rate).full
        const { waitUs } = takeFromBucket(full, START, rate)
        expect(takeFromBucket(full, START + waitUs - 1, rate).waitUs).toBe(1)
        expect(takeFromBucket(full, START + waitUs, rate).waitUs).toBe(0)
      }),
    )
  })

  test('refuses for at most the refill time, even after the clock was set back', () => {
    const rate = { rps: 10, burst: 20 }
    const { full, waitUs } = takeFromBucket(START + 3_600_000_000, START, rate)
    expect(waitUs).toBe(100_000)
    expect(takeFromBucket(full, START + 100_000, rate).waitUs).toBe(0)
  })
})

test('local buckets are separate by address', () => {
  const buckets = new LocalBuckets()
  const rate = { rps: 1, burst: 1 }
  expect(buckets.take('a', rate, START)).toBe(0)
  expect(buckets.take('a', rate, START)).toBe(1_000_000)
  expect(buckets.take('b', rate, START)).toBe(0)
})
