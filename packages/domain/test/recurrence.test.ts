import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { FreezeSet, judgeFreezes, offsetOf, recurrenceProblem, windowAt, windowsFrom } from '../src/index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const freeze = (start: string, end: string, recurrence: string) => ({
  start_time: start,
  end_time: end,
  recurrence,
  start_offset: offsetOf(start),
})
const at = (record: ReturnType<typeof freeze>, now: string) => {
  const window = windowAt(record, new Date(now))
  return window && [window.starts_at.toISOString(), window.ends_at.toISOString()]
}

/** Friday evening to Monday morning in a zone two hours ahead of UTC. */
const weekend = freeze('2026-01-02T18:00:00+02:00', '2026-01-05T06:00:00+02:00', 'FREQ=WEEKLY')

describe('recurring windows', () => {
  test('a window includes its start and excludes its end, in every week', () => {
    for (const weeks of [0, 1, 30, 520]) {
      const friday = Date.parse('2026-01-02T16:00:00Z') + weeks * 7 * DAY
      const monday = friday + 60 * HOUR
      const window = [new Date(friday).toISOString(), new Date(monday).toISOString()]
      expect(at(weekend, new Date(friday - 1).toISOString())).toBeNull()
      expect(at(weekend, new Date(friday).toISOString())).toEqual(window)
      expect(at(weekend, new Date(monday - 1).toISOString())).toEqual(window)
      expect(at(weekend, new Date(monday).toISOString())).toBeNull()
    }
  })

  test('no window exists before the first one', () => {
    expect(at(weekend, '2025-12-27T12:00:00Z')).toBeNull()
  })

  test('days are days in the zone of start_time', () => {
    // In UTC, this start is on Saturday.
    const sundays = freeze('2026-01-04T00:30:00+02:00', '2026-01-04T01:00:00+02:00', 'FREQ=WEEKLY;BYDAY=SU')
    expect(at(sundays, '2026-01-10T22:45:00Z')).toEqual(['2026-01-10T22:30:00.000Z', '2026-01-10T23:00:00.000Z'])
    expect(at(sundays, '2026-01-11T22:45:00Z')).toBeNull()
  })

  test('a rule can select the last working day of a month', () => {
    const rule = 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'
    const closing = freeze('2026-01-30T00:00:00Z', '2026-01-31T00:00:00Z', rule)
    for (const day of ['2026-02-27', '2026-03-31', '2026-05-29', '2045-09-29']) {
      expect(at(closing, `${day}T12:00:00Z`)?.[0]).toBe(`${day}T00:00:00.000Z`)
    }
    expect(at(closing, '2026-02-26T12:00:00Z')).toBeNull()
  })

  test('a leap day recurs every fourth year', () => {
    const leap = freeze('2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z', 'FREQ=YEARLY')
    expect(at(leap, '2028-02-29T10:00:00Z')).not.toBeNull()
    expect(at(leap, '2027-02-28T10:00:00Z')).toBeNull()
    expect(at(leap, '2027-03-01T10:00:00Z')).toBeNull()
  })

  test('COUNT includes the first window, and UNTIL may be a moment or a whole day of the zone', () => {
    const daily = (rule: string) => freeze('2026-01-01T10:00:00+02:00', '2026-01-01T11:00:00+02:00', rule)
    const active = (rule: string, day: number) => at(daily(rule), `2026-01-0${day}T08:30:00Z`) !== null
    for (const rule of [
      'FREQ=DAILY;COUNT=3',
      'FREQ=DAILY;UNTIL=20260103',
      'FREQ=DAILY;UNTIL=20260103T080000Z',
      'FREQ=DAILY;UNTIL=20260103T100000',
      'freq=daily;until=20260103t100000',
    ]) {
      expect([1, 2, 3, 4, 5].map((day) => active(rule, day))).toEqual([true, true, true, false, false])
    }
    expect(active('FREQ=DAILY;UNTIL=20260103T075959Z', 3)).toBe(false)
  })

  test('the first window exists even if the rule does not include its day', () => {
    const record = freeze('2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z', 'FREQ=WEEKLY;BYDAY=MO')
    expect(at(record, '2026-01-01T10:30:00Z')).not.toBeNull()
    expect(at(record, '2026-01-05T10:30:00Z')).not.toBeNull()
    expect(at(record, '2026-01-08T10:30:00Z')).toBeNull()
  })

  test('the window that ends last is returned if windows overlap', () => {
    const record = freeze('2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z', 'FREQ=DAILY')
    expect(at(record, '2026-01-05T06:00:00Z')).toEqual(['2026-01-05T00:00:00.000Z', '2026-01-06T12:00:00.000Z'])
  })
})

test('a blocking freeze has the end of its present window', () => {
  const everywhere = { id: 'f', name: 'Weekends', tenant_id: null, environment_id: null, solution_id: null }
  const now = new Date('2026-03-07T00:00:00Z')
  const caller = { may_override_freezes: false, tenant_id: null }
  const subject = { tenant_id: null, environment_id: null, solution_id: null, targets: [], caller, override: false }
  const blocking = [{ id: 'f', name: 'Weekends', ends_at: '2026-03-09T04:00:00.000Z' }]
  const freezes = new FreezeSet([{ ...everywhere, ...weekend }])
  expect(judgeFreezes(freezes.presentAt(now), subject).active_freezes).toEqual(blocking)
  expect(freezes.presentAt(new Date('2026-03-10T00:00:00Z'))).toEqual([])
})

const start = fc.integer({ min: 0, max: 2 ** 41 })
const minutesAhead = fc.integer({ min: -14 * 60, max: 14 * 60 })
const asOffset = (minutes: number) => {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

test('rules with a fixed interval repeat it for ever, for any zone and fraction of a second', () => {
  const unit = fc.constantFrom(['DAILY', DAY] as const, ['WEEKLY', 7 * DAY] as const)
  const numbers = { interval: fc.integer({ min: 1, max: 60 }), times: fc.integer({ min: 0, max: 20_000 }) }
  const where = {
    share: fc.double({ min: 0.01, max: 1, noNaN: true }),
    inside: fc.double({ min: 0, max: 1.99, noNaN: true }),
  }
  fc.assert(
    fc.property(start, minutesAhead, unit, fc.record({ ...numbers, ...where }), (begin, ahead, [name, size], more) => {
      const period = size * more.interval
      const length = Math.max(1, Math.min(Math.floor(period * more.share), 366 * DAY))
      const window = begin + period * (more.times % Math.max(1, Math.floor((100 * 366 * DAY) / period)))
      const now = window + Math.floor(length * more.inside)
      const record = {
        start_time: new Date(begin),
        end_time: new Date(begin + length),
        recurrence: `FREQ=${name};INTERVAL=${more.interval}`,
        start_offset: asOffset(ahead),
      }
      expect(recurrenceProblem(record)).toBeNull()
      const number = Math.floor((now - begin) / period)
      const expected = now < begin + number * period + length ? begin + number * period : null
      expect(windowAt(record, new Date(now))?.starts_at.getTime() ?? null).toBe(expected)
    }),
  )
})

test('a window contains its moment and is as long as the first window', () => {
  const rules = fc.constantFrom(
    'FREQ=DAILY;BYMONTH=1,5,12',
    'FREQ=MONTHLY;BYDAY=-1FR',
    'FREQ=MONTHLY;BYMONTHDAY=31',
    'FREQ=YEARLY;BYDAY=1MO,-1SU',
    'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=-1',
    'FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,SU;WKST=SU',
    // This date never occurs. The API refuses such a rule.
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
  )
  const length = fc.integer({ min: 1, max: 40 * DAY })
  fc.assert(
    fc.property(
      start,
      length,
      minutesAhead,
      rules,
      fc.integer({ min: -DAY, max: 2 ** 42 }),
      (begin, long, ahead, rule, after) => {
        const record = {
          start_time: new Date(begin),
          end_time: new Date(begin + long),
          recurrence: rule,
          start_offset: asOffset(ahead),
        }
        const now = begin + after
        const window = windowAt(record, new Date(now))
        if (after < 0) expect(window).toBeNull()
        if (after >= 0 && after < long) expect(window).not.toBeNull()
        if (window === null) return
        expect(window.starts_at.getTime()).toBeLessThanOrEqual(now)
        expect(window.ends_at.getTime()).toBeGreaterThan(now)
        expect(window.ends_at.getTime() - window.starts_at.getTime()).toBe(long)
      },
    ),
  )
})

describe('refused rules', () => {
  const problem = (recurrence: string, end = '2026-01-01T01:00:00Z') =>
    recurrenceProblem(freeze('2026-01-01T00:00:00Z', end, recurrence))

  test.each([
    ['RRULE:FREQ=DAILY', 'alone'],
    ['DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY', 'alone'],
    ['FREQ=DAILY;FREQ=DAILY', 'twice'],
    ['FREQ=DAILY;INTERVAL=0', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=1e9', 'INTERVAL'],
    ['FREQ=DAILY;INTERVAL=1000000000', 'INTERVAL'],
    ['FREQ=DAILY;COUNT=1000000000', 'COUNT'],
    ['FREQ=DAILY;COUNT=2;UNTIL=20270101', 'both'],
    ['FREQ=DAILY;UNTIL=20260231', 'UNTIL'],
    ['FREQ=DAILY;UNTIL=tomorrow', 'UNTIL'],
    ['FREQ=WEEKLY;BYDAY=XX', 'BYDAY'],
    ['FREQ=WEEKLY;BYDAY=1MO', 'BYDAY'],
    ['FREQ=WEEKLY;BYMONTHDAY=1', 'BYMONTHDAY'],
    ['FREQ=MONTHLY;BYMONTHDAY=0', 'BYMONTHDAY'],
    ['FREQ=MONTHLY;BYSETPOS=1', 'BYSETPOS'],
    ['FREQ=DAILY;BYDAY=MO;BYSETPOS=1', 'BYSETPOS'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=30', 'COUNT'],
  ])('%s', (rule, reason) => {
    expect(problem(rule)).toContain(reason)
  })

  test.each([
    '',
    'INTERVAL=2',
    'FREQ=SOMETIMES',
    'FREQ=HOURLY',
    'FREQ=MINUTELY',
    'FREQ=SECONDLY',
    'FREQ=DAILY;',
    'FREQ=DAILY\nEXDATE:20260101T000000Z',
    'FREQ=DAILY;BYHOUR=1',
    'FREQ=DAILY;BYMINUTE=1',
    'FREQ=DAILY;BYSECOND=1',
    'FREQ=YEARLY;BYWEEKNO=1',
    'FREQ=YEARLY;BYYEARDAY=1',
    'FREQ=DAILY;X-SLIPWAY=1',
  ])('%j, with what is possible', (rule) => {
    expect(problem(rule)).toContain('FREQ=DAILY, WEEKLY, MONTHLY or YEARLY')
  })

  test.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=2',
    'FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=2MO',
    'FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=2',
    // The first Monday after start_time is 2026-01-05.
    'FREQ=WEEKLY;BYDAY=MO;UNTIL=20260104',
  ])('%s, because it never matches', (rule) => {
    expect(problem(rule)).toContain('never matches')
    expect(problem(rule)).toContain('FREQ=DAILY, WEEKLY, MONTHLY or YEARLY')
  })

  test('a rule that matches seldom is possible', () => {
    expect(problem('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO')).toBeNull()
    expect(problem('FREQ=WEEKLY;BYDAY=MO;UNTIL=20260105')).toBeNull()
  })

  test('a window longer than a year', () => {
    expect(problem('FREQ=YEARLY;INTERVAL=4', '2027-06-01T00:00:00Z')).toContain('days')
    expect(problem('FREQ=YEARLY', '2026-12-31T00:00:00Z')).toBeNull()
  })

  test.each([
    ['FREQ=DAILY', '2026-01-02T00:00:00Z'],
    ['FREQ=WEEKLY;BYDAY=MO,WE', '2026-01-03T00:00:00Z'],
    // From 28 February to 1 March.
    ['FREQ=MONTHLY', '2026-01-29T00:00:00Z'],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-02-01T00:00:00Z'],
    ['FREQ=YEARLY', '2027-01-01T00:00:00Z'],
    // A rule with a single start has no interval.
    ['FREQ=DAILY;COUNT=1', '2026-12-31T00:00:00Z'],
    ['FREQ=DAILY;UNTIL=20260101', '2026-12-31T00:00:00Z'],
  ])('a window longer than the shortest interval of %s', (rule, end) => {
    expect(problem(rule, end)).toBeNull()
    const later = new Date(Date.parse(end) + 1).toISOString()
    const expected = /COUNT|UNTIL/.test(rule) ? null : expect.stringContaining('apart')
    expect(problem(rule, later)).toEqual(expected)
  })
})

test.each([
  ['2026-01-01T00:00:00Z', '+00:00'],
  ['2026-01-01T00:00:00z', '+00:00'],
  ['2026-01-01T00:00:00.123+05:30', '+05:30'],
  ['2026-01-01t00:00:00-03:00', '-03:00'],
])('the offset of %s is %s', (timestamp, offset) => {
  expect(offsetOf(timestamp)).toBe(offset)
})

describe('the future windows', () => {
  const starts = (record: Parameters<typeof windowsFrom>[0], now: string) =>
    windowsFrom(record, new Date(now)).map(({ starts_at }) => starts_at.toISOString())
  const inBerlin = {
    ...freeze('2026-03-01T18:00:00+01:00', '2026-03-01T20:00:00+01:00', 'FREQ=WEEKLY'),
    time_zone: 'Europe/Berlin',
  }

  test('begin with the present window and keep their time of day and length when clocks change', () => {
    expect(windowsFrom(inBerlin, new Date('2026-03-22T18:00:00Z'))).toEqual([
      { starts_at: new Date('2026-03-22T17:00:00Z'), ends_at: new Date('2026-03-22T19:00:00Z') },
      { starts_at: new Date('2026-03-29T16:00:00Z'), ends_at: new Date('2026-03-29T18:00:00Z') },
      { starts_at: new Date('2026-04-05T16:00:00Z'), ends_at: new Date('2026-04-05T18:00:00Z') },
    ])
  })

  test('are those of the next 14 days, or the next one within a year', () => {
    const yearly = freeze('2020-12-24T00:00:00Z', '2020-12-27T00:00:00Z', 'FREQ=YEARLY')
    expect(starts(yearly, '2026-11-23T00:00:00Z')).toEqual(['2026-12-24T00:00:00.000Z'])
    expect(starts(yearly, '2026-12-25T00:00:00Z')).toEqual(['2026-12-24T00:00:00.000Z', '2027-12-24T00:00:00.000Z'])
    expect(starts({ ...yearly, recurrence: 'FREQ=YEARLY;INTERVAL=4' }, '2026-11-23T00:00:00Z')).toEqual([])
    expect(starts({ ...yearly, recurrence: 'FREQ=YEARLY;COUNT=3' }, '2026-11-23T00:00:00Z')).toEqual([])
  })

  test('are at most 100', () => {
    // Freezes of before may last longer than the interval between two starts.
    const overlapping = freeze('2026-01-01T00:00:00Z', '2026-08-01T00:00:00Z', 'FREQ=DAILY')
    expect(starts(overlapping, '2026-06-01T00:30:00Z')).toHaveLength(100)
  })

  test('are the single window of a freeze that does not recur, until it ends', () => {
    const once = { ...weekend, recurrence: null }
    expect(starts(once, '2025-12-01T00:00:00Z')).toEqual(['2026-01-02T16:00:00.000Z'])
    expect(starts(once, '2026-01-05T03:59:59Z')).toEqual(['2026-01-02T16:00:00.000Z'])
    expect(starts(once, '2026-01-05T04:00:00Z')).toEqual([])
  })
})
