import { PassThrough } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { createLogger, createTicker, fullJitter, sleep, uuidv7 } from '../src/index.ts'

const logger = createLogger({ service: 'test', stream: new PassThrough().resume() })
const eventually = async (condition: () => boolean) => {
  while (!condition()) await sleep(5)
}
const never = 2 ** 30

describe('a ticker', () => {
  test('runs at once, and again after each interval', async () => {
    let runs = 0
    const ticker = createTicker({ name: 'test', intervalMs: 1, logger, run: () => void runs++ })
    await eventually(() => runs >= 3)
    await ticker.stop()
    const atStop = runs
    await sleep(10)
    expect(runs).toBe(atStop)
  })

  test('kicks during a run cause exactly one more run, and runs never overlap', async () => {
    let running = 0
    let most = 0
    let ended = 0
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const run = async () => {
      running += 1
      most = Math.max(most, running)
      await held
      running -= 1
      ended += 1
    }
    const ticker = createTicker({ name: 'test', intervalMs: never, logger, run })
    await eventually(() => running === 1)
    for (let index = 0; index < 10; index++) ticker.kick()
    release()
    await eventually(() => ended === 2)
    await sleep(10)
    expect({ ended, most }).toEqual({ ended: 2, most: 1 })
    ticker.kick()
    await eventually(() => ended === 3)
    await ticker.stop()
  })

  test('continues after a failed run', async () => {
    let runs = 0
    const run = async () => {
      runs += 1
      throw new Error('no')
    }
    const ticker = createTicker({ name: 'test', intervalMs: 1, logger, run })
    await eventually(() => runs >= 3)
    await ticker.stop()
  })

  test('stops after the current run, and a kick does not start it again', async () => {
    const events: string[] = []
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const run = async () => {
      events.push('begun')
      await held
      events.push('ended')
    }
    const ticker = createTicker({ name: 'test', intervalMs: 1, logger, run })
    await eventually(() => events.length === 1)
    ticker.kick()
    const stopped = ticker.stop().then(() => events.push('stopped'))
    release()
    await stopped
    ticker.kick()
    await sleep(10)
    expect(events).toEqual(['begun', 'ended', 'stopped'])
  })
})

test('retry delays grow to their cap and are spread over the whole range from 0', () => {
  const limits = { baseMs: 100, capMs: 1_000 }
  const many = (attempt: number) => Array.from({ length: 2_000 }, () => fullJitter(attempt, limits))
  for (const [attempt, ceiling] of [
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [10_000, 1_000],
  ] as const) {
    const waits = many(attempt)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0)
    expect(Math.min(...waits)).toBeLessThan(ceiling * 0.1)
    expect(Math.max(...waits)).toBeLessThan(ceiling)
    expect(Math.max(...waits)).toBeGreaterThan(ceiling * 0.9)
  }
})

test('a sleep ends when its signal aborts, before or during the sleep', async () => {
  await sleep(never, AbortSignal.abort())
  const abort = new AbortController()
  const sleeping = sleep(never, abort.signal)
  abort.abort()
  await sleeping
})

test('ids are unique UUIDs of version 7 and sort in the order of their creation', () => {
  const ids = Array.from({ length: 20_000 }, () => uuidv7())
  expect(new Set(ids).size).toBe(ids.length)
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids.slice(0, 100))
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const made = Number.parseInt((ids[0] as string).replaceAll('-', '').slice(0, 12), 16)
  expect(Math.abs(made - Date.now())).toBeLessThan(3_600_000)
})
