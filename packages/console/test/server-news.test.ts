// When the page says that the server does not answer, what is read again and when, and which deployments it watches.
import { expect, test } from '@jest/globals'
import { ConnectionError } from '@slipway/client'
import { dueRead } from '../src/api/pulse.ts'
import { isToldAlready, ServerNews } from '../src/api/server-news.ts'
import { creationOf, WatchList } from '../src/app/watch-list.ts'

/** A server and a clock that the test moves. */
function createWorld() {
  let now = 1_000_000
  let work: { at: number; act: () => void }[] = []
  let probes = 0
  const news = new ServerNews({
    probe: async () => {
      probes += 1
    },
    now: () => now,
    after: (ms, act) => {
      const entry = { at: now + ms, act }
      work.push(entry)
      return () => {
        work = work.filter((one) => one !== entry)
      }
    },
  })
  const pass = async (ms: number) => {
    const end = now + ms
    for (;;) {
      const next = work.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      work = work.filter((one) => one !== next)
      now = next.at
      next.act()
      await Promise.resolve()
    }
    now = end
  }
  return { news, pass, probes: () => probes, now: () => now }
}

test('three seconds without an answer are a silence since the last answer, and the next answer ends it', async () => {
  const { news, pass, now } = createWorld()
  news.asked()
  news.answered()
  const lastNewsAt = now()
  news.asked()
  await pass(2_900)
  expect(news.state.isSilent).toBe(false)
  await pass(100)
  expect(news.state).toEqual({ isSilent: true, lastNewsAt, returnedAt: null })
  news.answered()
  expect(news.state).toEqual({ isSilent: false, lastNewsAt, returnedAt: now() })
})

test('one slow answer is no silence where the server answers a probe', async () => {
  const { news, pass, probes } = createWorld()
  await pass(60_000)
  expect(probes()).toBe(0)
  news.asked()
  await pass(1_000)
  expect(probes()).toBe(1)
  news.answered()
  await pass(60_000)
  expect(news.state.isSilent).toBe(false)
  expect(probes()).toBe(1)
})

test('the page asks again and again during a silence, but not in the background', async () => {
  const { news, pass, probes } = createWorld()
  news.asked()
  await pass(10_000)
  expect(news.state.isSilent).toBe(true)
  const before = probes()
  expect(before).toBeGreaterThan(2)
  news.pause()
  await pass(60_000)
  expect(probes()).toBe(before)
})

test('a failed read has no alert of its own during a silence, and after it until the read was tried again', () => {
  const error = new ConnectionError('http://localhost', new Error('refused'))
  const silent = { isSilent: true, lastNewsAt: 1_000, returnedAt: null }
  const back = { isSilent: false, lastNewsAt: 1_000, returnedAt: 9_000 }
  expect(isToldAlready({ error, errorUpdatedAt: 8_000 }, silent)).toBe(true)
  expect(isToldAlready({ error, errorUpdatedAt: 8_000 }, back)).toBe(true)
  expect(isToldAlready({ error, errorUpdatedAt: 10_000 }, back)).toBe(false)
  expect(isToldAlready({ error: new Error('refused by the API'), errorUpdatedAt: 8_000 }, silent)).toBe(false)
})

test('an idle screen makes at most two calls in ten seconds, however much it shows, and forgets nothing', () => {
  const candidates = ['list', 'agent', 'history', 'counts'].map((name) => ({
    name,
    readAt: 0,
    everyMs: name === 'counts' ? 30_000 : null,
  }))
  const calls: { name: string; at: number }[] = []
  for (let now = 500; now < 120_000; now += 500) {
    const due = dueRead(candidates, { now, lastCallAt: calls.at(-1)?.at ?? 0, isBusy: false })
    if (due === null) continue
    due.readAt = now
    calls.push({ name: due.name, at: now })
  }
  for (const { at } of calls) {
    expect(calls.filter((one) => one.at > at - 10_000 && one.at <= at).length).toBeLessThanOrEqual(2)
  }
  expect(new Set(calls.map(({ name }) => name)).size).toBe(4)
})

test('a busy screen is read again sooner, and a read that is not late is left alone', () => {
  const candidate = { readAt: 0, everyMs: null }
  expect(dueRead([candidate], { now: 2_500, lastCallAt: 0, isBusy: true })).toBe(candidate)
  expect(dueRead([candidate], { now: 2_500, lastCallAt: 0, isBusy: false })).toBeNull()
  expect(dueRead([{ readAt: 0, everyMs: 60_000 }], { now: 30_000, lastCallAt: 0, isBusy: true })).toBeNull()
})

test('the end of a deployment is told once, if the page has opened it while it ran', () => {
  const list = new WatchList<{ id: string; state: string }>()
  expect(list.note([{ id: 'seen in a list', state: 'running' }], false)).toEqual([])
  expect(list.note([{ id: 'opened', state: 'running' }], true)).toEqual([])
  expect(list.note([{ id: 'over before', state: 'failed' }], true)).toEqual([])
  const ended = { id: 'opened', state: 'failed' }
  expect(list.note([{ id: 'seen in a list', state: 'failed' }, ended], false)).toEqual([ended])
  expect(list.note([ended], true)).toEqual([])
  expect(list.running).toEqual([])
})

test('the watched deployments are found by when they were created', () => {
  const times = ['2026-01-01T00:00:05.250Z', '2026-01-01T00:00:01.000Z'].map((created_at) => ({ created_at }))
  expect(creationOf(times)).toEqual({
    created_from: '2026-01-01T00:00:01.000Z',
    created_before: '2026-01-01T00:00:06.250Z',
  })
})
