import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { endOfRecurrence, type Freeze, FreezeSet, recurrenceProblem, windowAt, windowsFrom } from '../src/index.ts'
import { ruleProblem } from '../src/recurrence/rule.ts'
import { listStarts, momentShowing, wallClock } from './recurrence-model.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata']

const WALLS = new Map(ZONES.map((zone) => [zone, wallClock(zone)]))

const part = (name: string, items: fc.Arbitrary<number | string>, most: number) =>
  fc.uniqueArray(items, { minLength: 1, maxLength: most }).map((values) => `${name}=${values.join(',')}`)
const among = (...values: number[]) => fc.constantFrom(...values)
/** A part that most rules lack. */
const seldom = (made: fc.Arbitrary<string>) => fc.option(made, { freq: 3 })

/** Rules with random parts. Most combinations are refused, so `ruleProblem` filters them. */
const anyRule = fc
  .tuple(
    fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY').map((name) => `FREQ=${name}`),
    seldom(part('INTERVAL', fc.integer({ min: 1, max: 7 }), 1)),
    seldom(part('BYMONTH', fc.integer({ min: 1, max: 12 }), 4)),
    seldom(part('BYMONTHDAY', among(1, 5, 13, 28, 29, 30, 31, -1, -5, -31), 4)),
    seldom(
      part(
        'BYDAY',
        fc
          .tuple(fc.constantFrom('', '', '', '1', '2', '-1', '5'), fc.constantFrom(...WEEKDAYS))
          .map((day) => day.join('')),
        3,
      ),
    ),
    seldom(part('BYSETPOS', among(1, 2, 3, -1, -2), 2)),
    seldom(part('COUNT', fc.integer({ min: 1, max: 40 }), 1)),
    seldom(part('WKST', fc.constantFrom(...WEEKDAYS), 1)),
  )
  .map((parts) => parts.filter((one) => one !== null).join(';'))
  .filter((rule) => ruleProblem(rule) === null)

const window = (start: number, length: number, recurrence: string, time_zone: string) => ({
  start_time: new Date(start),
  end_time: new Date(start + length),
  recurrence,
  start_offset: '+00:00',
  time_zone,
})

const input = fc.record({
  rule: anyRule,
  zone: fc.constantFrom(...ZONES),
  /** Minutes from the beginning of 2024, a leap year. */
  first: fc.integer({ min: 0, max: 800 * 24 * 60 }),
  length: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 20_000 })),
  looks: fc.array(fc.tuple(fc.nat(), fc.double({ min: -0.2, max: 1.2, noNaN: true })), { minLength: 4, maxLength: 8 }),
})

test('the present and future windows agree with the model, for any rule, zone and moment', () => {
  let [inside, ahead] = [0, 0]
  fc.assert(
    fc.property(input, ({ rule, zone, first, length, looks }) => {
      const wall = WALLS.get(zone) ?? wallClock('UTC')
      const firstTime = Date.UTC(2024, 0, 1) + first * MINUTE
      const start = momentShowing(wall, firstTime)
      // A start_time that clocks skip cannot be written.
      fc.pre(wall(start) === firstTime)
      const span = (/DAILY/.test(rule) ? 300 : 1_200) * DAY
      const times = listStarts(rule, firstTime, firstTime + span)
      const record = window(start, length * MINUTE, rule, zone)
      for (const [place, share] of looks) {
        // Near a start of the rule, or anywhere if the rule has none.
        const near = times.length === 0 ? firstTime + (place % span) : times[place % times.length]
        const now = Math.round(momentShowing(wall, near ?? firstTime) + length * MINUTE * share)
        if (now > start + span - 2 * DAY) continue
        const begun = times
          .filter((time) => Math.abs(time - now) < length * MINUTE + 2 * DAY)
          .map((time) => momentShowing(wall, time))
          .concat(start)
          .filter((moment) => moment <= now && now < moment + length * MINUTE)
        const expected = begun.length === 0 ? null : new Date(Math.max(...begun)).toISOString()
        if (expected !== null) inside += 1
        expect(windowAt(record, new Date(now))?.starts_at.toISOString() ?? null).toBe(expected)
        if (now > start + span - 18 * DAY) continue
        const close = times
          .filter((time) => time > now - length * MINUTE - 2 * DAY && time < now + 16 * DAY)
          .map((time) => momentShowing(wall, time))
          .concat(start)
          .filter((moment) => now < moment + length * MINUTE && moment <= now + 14 * DAY)
        const listed = windowsFrom(record, new Date(now)).map(({ starts_at }) => starts_at.getTime())
        const wanted = [...new Set(close)].sort((a, b) => a - b).slice(0, 100)
        expect(listed.filter((moment) => moment <= now + 14 * DAY)).toEqual(wanted)
        if (wanted.some((moment) => moment > now)) ahead += 1
      }
      const end = endOfRecurrence(record)
      const last = times.at(-1)
      if (end !== null && last !== undefined) {
        expect(end.getTime()).toBeGreaterThanOrEqual(momentShowing(wall, last) + length * MINUTE)
      }
    }),
    { numRuns: 120 },
  )
  expect(inside).toBeGreaterThan(60)
  expect(ahead).toBeGreaterThan(20)
})

test('windows longer than the shortest interval between two starts are refused, and equal ones are not', () => {
  fc.assert(
    fc.property(anyRule, fc.integer({ min: 0, max: 800 * 24 * 60 }), (rule, first) => {
      const start = Date.UTC(2024, 0, 1) + first * MINUTE
      const years = /DAILY|WEEKLY/.test(rule) ? 3 : 5
      const starts = listStarts(rule, start, start + years * 366 * DAY)
      const shortest = Math.min(...starts.slice(1).map((time, index) => time - (starts[index] ?? 0)), 366 * DAY)
      const problem = (length: number) => recurrenceProblem(window(start, length, rule, 'UTC')) ?? ''
      fc.pre(!/COUNT|never matches/.test(problem(1)))
      if (shortest < 366 * DAY) expect(problem(shortest + 1)).toContain('apart')
      // Rare dates may be closer than in the years that the model lists.
      const isFrequent = /DAILY|WEEKLY/.test(rule) && !/BYMONTH|BYSETPOS/.test(rule)
      if (isFrequent) expect(problem(shortest)).toBe('')
    }),
    { numRuns: 50 },
  )
})

test('a set of freezes agrees with each single freeze, at any moment and in any order', () => {
  const rules = fc.constantFrom(
    null,
    'FREQ=DAILY',
    'FREQ=DAILY;COUNT=3',
    'FREQ=WEEKLY;BYDAY=MO,FR',
    'FREQ=MONTHLY;BYDAY=-1FR',
  )
  const one = fc.record({
    rule: rules,
    first: fc.integer({ min: 0, max: 40 * 24 * 60 }),
    length: fc.integer({ min: 1, max: 3_000 }),
  })
  const instants = fc.array(fc.integer({ min: -DAY, max: 60 * DAY }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), instants, (made, looks) => {
      const begin = Date.UTC(2026, 0, 1)
      const freezes = made.map(
        ({ rule, first, length }, index): Freeze => ({
          ...window(begin + first * MINUTE, length * MINUTE, rule ?? '', 'Europe/Berlin'),
          id: String(index),
          name: '',
          recurrence: rule,
          tenant_id: null,
          environment_id: null,
          solution_id: null,
        }),
      )
      const set = new FreezeSet(freezes)
      for (const look of looks) {
        const now = new Date(begin + look)
        const alone = freezes.flatMap((freeze) => {
          const found = windowAt(freeze, now)
          return found === null ? [] : [[freeze.id, found.starts_at, found.ends_at]]
        })
        expect(set.presentAt(now).map(({ id, start_time, end_time }) => [id, start_time, end_time])).toEqual(alone)
      }
    }),
  )
})

test('a set of freezes is evaluated again only after its next boundary', () => {
  const friday = window(Date.UTC(2026, 0, 2, 18), 4 * HOUR, 'FREQ=WEEKLY', 'UTC')
  const set = new FreezeSet([
    { ...friday, id: 'f', name: '', tenant_id: null, environment_id: null, solution_id: null },
  ])
  const at = (text: string) => set.presentAt(new Date(text))
  const before = at('2026-03-05T00:00:00Z')
  expect(at('2026-03-06T17:59:59.999Z')).toBe(before)
  const during = at('2026-03-06T18:00:00Z')
  expect(during).toHaveLength(1)
  expect(at('2026-03-06T21:59:59.999Z')).toBe(during)
  expect(at('2026-03-06T22:00:00Z')).toEqual([])
})
