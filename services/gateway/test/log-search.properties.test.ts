import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type NumberedLine, searchLog, searchLogBefore } from '../src/deployments/log-search.ts'

const MOST_CHUNKS = 32

interface Log {
  /** The number of the first stored line. */
  first: number
  /** How many lines each chunk has. */
  chunks: number[]
  /** Every n-th line matches. 0 means that no line matches. */
  every: number
}

const logs: fc.Arbitrary<Log> = fc.record({
  first: fc.nat(50),
  chunks: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 150 }),
  every: fc.nat(60),
})

const lineOf = (number: number): NumberedLine => ({ t: 0, i: 0, a: 0, s: 'o', l: 'info', m: `${number}`, number })

/** The log as the SQL statement reads it. */
function viewOf({ first, chunks, every }: Log) {
  let at = first
  const stored = chunks.map((count) => {
    at += count
    return { from: at - count, to: at }
  })
  const matches = Array.from({ length: at - first }, (_, index) => first + index).filter(
    (number) => every > 0 && number % every === 0,
  )
  const looks: number[] = []
  const look = async ({ line, chunks: wanted, limit }: { line: number; chunks: number; limit: number }) => {
    looks.push(wanted)
    const near = stored.filter(({ to }) => to > line).slice(0, wanted)
    const reached = near.at(-1)?.to ?? stored.at(-1)?.to ?? null
    const found = matches.filter((number) => number >= line && number < (reached ?? 0)).slice(0, limit)
    return { reached, found: found.map(lineOf) }
  }
  const lookBefore = async ({ line, chunks: wanted, limit }: { line: number; chunks: number; limit: number }) => {
    const near = stored.filter(({ from }) => from < line).slice(-wanted)
    const reached = near[0]?.from ?? null
    const found = matches.filter((number) => number < line && number >= (reached ?? at)).slice(-limit)
    return { reached, found: found.map(lineOf) }
  }
  return { end: at, matches, look, lookBefore, looks }
}

test('the pages together contain all matching lines, and each page makes progress', async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.integer({ min: 1, max: 30 }), fc.array(fc.boolean()), async (log, limit, times) => {
      const { end, matches, look, looks } = viewOf(log)
      const clock = [...times]
      const found: number[] = []
      for (let from = log.first; from < end; ) {
        const { lines, next } = await searchLog({ from, end, limit, look, hasTime: () => clock.pop() ?? true })
        expect(lines.length).toBeLessThanOrEqual(limit)
        expect(next).toBeGreaterThan(from)
        expect(next).toBeLessThanOrEqual(end)
        found.push(...lines.map(({ number }) => number))
        from = next
      }
      expect(found).toEqual(matches)
      expect(Math.max(0, ...looks)).toBeLessThanOrEqual(MOST_CHUNKS)
    }),
  )
})

test('a page without matches ends at its time limit, after at least one statement', async () => {
  const { end, look, looks } = viewOf({ first: 0, chunks: Array.from({ length: 500 }, () => 10), every: 0 })
  expect(await searchLog({ from: 0, end, limit: 10, look, hasTime: () => false })).toEqual({ lines: [], next: 20 })
  expect(looks).toHaveLength(1)
  expect(await searchLog({ from: 20, end, limit: 10, look, hasTime: () => true })).toEqual({ lines: [], next: end })
})

test('a page ends after its last line, and the next page has the rest of the chunk', async () => {
  const { end, look } = viewOf({ first: 0, chunks: [100], every: 10 })
  const { lines, next } = await searchLog({ from: 0, end, limit: 3, look, hasTime: () => true })
  expect([lines.map(({ number }) => number), next]).toEqual([[0, 10, 20], 21])
})

test('a search ends if retention drops its lines meanwhile', async () => {
  const look = async () => ({ reached: null, found: [] })
  expect(await searchLog({ from: 0, end: 100, limit: 3, look, hasTime: () => true })).toEqual({ lines: [], next: 100 })
})

test('the pages backward together contain all matching lines, and each page makes progress', async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.integer({ min: 1, max: 30 }), fc.array(fc.boolean()), async (log, limit, times) => {
      const { end, matches, lookBefore: look } = viewOf(log)
      const { first } = log
      const clock = [...times]
      const found: number[] = []
      for (let before = end; before > first; ) {
        const { lines, next } = await searchLogBefore({
          before,
          first,
          limit,
          look,
          hasTime: () => clock.pop() ?? true,
        })
        expect(lines.length).toBeLessThanOrEqual(limit)
        expect(next).toBeLessThan(before)
        expect(next).toBeGreaterThanOrEqual(first)
        found.unshift(...lines.map(({ number }) => number))
        before = next
      }
      expect(found).toEqual(matches)
    }),
  )
})
