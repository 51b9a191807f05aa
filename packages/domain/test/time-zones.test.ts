import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isTimeZone, recurrenceProblem, windowAt, windowsFrom } from '../src/index.ts'
import { momentShowing, wallClock } from './recurrence-model.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const inBerlin = { time_zone: 'Europe/Berlin', start_offset: '+01:00' }
const fridays = {
  ...inBerlin,
  start_time: '2026-01-02T18:00:00+01:00',
  end_time: '2026-01-02T22:00:00+01:00',
  recurrence: 'FREQ=WEEKLY;BYDAY=FR',
}
const startAt = (freeze: Parameters<typeof windowAt>[0], now: string) =>
  windowAt(freeze, new Date(now))?.starts_at.toISOString() ?? null

describe('windows in a time zone', () => {
  test('begin at the same local time in summer and winter', () => {
    expect(startAt(fridays, '2026-03-27T17:00:00Z')).toBe('2026-03-27T17:00:00.000Z')
    expect(startAt(fridays, '2026-04-03T16:00:00Z')).toBe('2026-04-03T16:00:00.000Z')
    expect(startAt(fridays, '2026-04-03T15:59:59.999Z')).toBeNull()
    expect(startAt(fridays, '2026-10-30T16:59:59.999Z')).toBeNull()
    expect(startAt(fridays, '2026-10-30T17:00:00Z')).toBe('2026-10-30T17:00:00.000Z')
    const { time_zone: _, ...fixed } = fridays
    expect(startAt(fixed, '2026-04-03T16:30:00Z')).toBeNull()
  })

  test('are as long as the first window, even when clocks change', () => {
    const nights = { ...inBerlin, start_time: '2026-03-01T01:00:00+01:00', end_time: '2026-03-01T04:00:00+01:00' }
    const window = windowAt({ ...nights, recurrence: 'FREQ=DAILY' }, new Date('2026-03-29T00:30:00Z'))
    expect([window?.starts_at.toISOString(), window?.ends_at.toISOString()]).toEqual([
      '2026-03-29T00:00:00.000Z',
      '2026-03-29T03:00:00.000Z',
    ])
  })

  test('use the time before a skipped hour, and the first of two equal times', () => {
    const at = (time: string) => ({
      ...inBerlin,
      start_time: `2026-01-01T${time}:00+01:00`,
      end_time: `2026-01-01T${time}:59+01:00`,
      recurrence: 'FREQ=DAILY',
    })
    expect(startAt(at('02:30'), '2026-03-29T01:30:10Z')).toBe('2026-03-29T01:30:00.000Z')
    expect(startAt(at('02:30'), '2026-10-25T00:30:10Z')).toBe('2026-10-25T00:30:00.000Z')
    expect(startAt(at('02:30'), '2026-10-25T01:30:10Z')).toBeNull()
  })

  test('have local times for COUNT and UNTIL', () => {
    expect(startAt({ ...fridays, recurrence: 'FREQ=WEEKLY;COUNT=14' }, '2026-04-03T16:00:00Z')).not.toBeNull()
    expect(startAt({ ...fridays, recurrence: 'FREQ=WEEKLY;COUNT=13' }, '2026-04-03T16:00:00Z')).toBeNull()
    const until = (text: string) =>
      startAt({ ...fridays, recurrence: `FREQ=WEEKLY;UNTIL=${text}` }, '2026-04-03T16:00:00Z')
    expect(until('20260403T160000Z')).not.toBeNull()
    expect(until('20260403T155959Z')).toBeNull()
    expect(until('20260403T180000')).not.toBeNull()
    expect(until('20260403T175959')).toBeNull()
    expect(recurrenceProblem({ ...fridays, recurrence: 'FREQ=MONTHLY;COUNT=10' })).toBeNull()
  })

  test.each(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('%s is a time zone', (name) => {
    expect(isTimeZone(name)).toBe(true)
  })
  test.each(['', '+02:00', 'Berlin', 'Europe/', 'Europe/Berlin ', 'Mars/Olympus', 'a'.repeat(100)])(
    '%p is no time zone',
    (name) => {
      expect(isTimeZone(name)).toBe(false)
    },
  )
})

test('a day that a zone skips has no window of its own, and the list of windows has no start twice', () => {
  // Samoa went from 29 to 31 December 2011.
  const daily = {
    time_zone: 'Pacific/Apia',
    start_offset: '-10:00',
    start_time: '2011-12-25T12:00:00-10:00',
    end_time: '2011-12-25T13:00:00-10:00',
    recurrence: 'FREQ=DAILY',
  }
  const starts = windowsFrom(daily, new Date('2011-12-29T00:00:00Z')).map(({ starts_at }) => starts_at.toISOString())
  expect(starts.slice(0, 3)).toEqual([
    '2011-12-29T22:00:00.000Z',
    '2011-12-30T22:00:00.000Z',
    '2011-12-31T22:00:00.000Z',
  ])
})

test('daily windows begin at the local time of the first window, also on days when clocks change', () => {
  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata']
  // Days near changes of clocks in these zones, and one other day.
  const around = [
    '2026-03-08',
    '2026-03-29',
    '2026-04-05',
    '2026-10-04',
    '2026-10-25',
    '2026-11-01',
    '2018-11-04',
    '2026-07-01',
  ]
  const input = {
    zone: fc.constantFrom(...zones),
    day: fc.constantFrom(...around),
    minute: fc.integer({ min: 0, max: 24 * 60 - 1 }),
    length: fc.integer({ min: 1, max: 30 * 60 }),
    look: fc.integer({ min: -36 * 60, max: 36 * 60 }),
  }
  fc.assert(
    fc.property(fc.record(input), ({ zone, day, minute, length, look }) => {
      const wall = wallClock(zone)
      const firstTime = Date.parse(`${day}T00:00:00Z`) - 20 * DAY + minute * MINUTE
      const first = momentShowing(wall, firstTime)
      // A start_time that clocks skip cannot be written.
      fc.pre(wall(first) === firstTime)
      const now = Date.parse(`${day}T12:00:00Z`) + look * MINUTE
      const starts = Array.from({ length: 25 }, (_, index) => momentShowing(wall, firstTime + index * DAY))
      const expected = starts.filter((start) => start <= now && now < start + length * MINUTE)
      const window = windowAt(
        {
          start_time: new Date(first),
          end_time: new Date(first + length * MINUTE),
          recurrence: 'FREQ=DAILY',
          start_offset: '+00:00',
          time_zone: zone,
        },
        new Date(now),
      )
      expect(window?.starts_at.toISOString() ?? null).toBe(
        expected.length === 0 ? null : new Date(Math.max(...expected)).toISOString(),
      )
    }),
    { numRuns: 150 },
  )
})
