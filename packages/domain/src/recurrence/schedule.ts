import {
  DAY,
  dateOf,
  dayNumber,
  dayOf,
  daysInMonth,
  daysInYear,
  HOUR,
  modulo,
  startOfWeek,
  startOfWeekYear,
  weekdayOf,
  weekYearOf,
} from './calendar.ts'
import type { Rule } from './rule.ts'

/** A rule with COUNT has to be counted from its beginning, so COUNT must be reached within this many days. */
const MAX_COUNT_DAYS = 36_600
/**
 * The search for the shortest interval covers 28 years: from 1901 to 2099 the calendar repeats after that. It also ends after
 * this many starts, which is enough for rules that start often.
 */
const CALENDAR_CYCLE_DAYS = 28 * 366
const ENOUGH_STARTS = 5_000

/** The days of the year, month or week-based year that contains a day. */
interface Period {
  /** The number of the period. */
  index: number
  first: number
  last: number
}

const NONE: readonly number[] = []

/**
 * The starts of a rule, by day. All times are local times in milliseconds, as if they were UTC, so a day always has exactly one
 * 18:00.
 *
 * Libraries were too slow: they find the last start before a moment by listing all earlier ones (up to 0.4 s), or by a search
 * that fails for rules that never match.
 */
export class Schedule {
  /** No start is earlier. */
  readonly first: number
  /** No start is later; Infinity for a rule without end. */
  readonly last: number
  readonly #rule: Rule
  readonly #firstDay: number
  readonly #interval: (day: number) => boolean
  /** The starts of a day, in milliseconds from its beginning. */
  readonly #timesOfDay: readonly number[]
  #chosen: { index: number; starts: ReadonlyMap<number, readonly number[]> } | undefined

  /** @param until the last time at which the rule may start; Infinity for none */
  constructor(rule: Rule, first: number, until: number) {
    this.first = first
    this.#firstDay = dayOf(first)
    this.#rule = withDefaults(rule, first)
    this.#interval = this.#intervalCheck()
    this.#timesOfDay = timesOfDay(this.#rule)
    this.last = until
    if (rule.count !== null) this.last = this.#endOfCount(rule.count)
  }

  /** Whether COUNT is not reached within MAX_COUNT_DAYS. */
  get neverReachesCount(): boolean {
    return this.#rule.count !== null && this.last === Number.POSITIVE_INFINITY
  }

  /** The starts from `to` down to `from`. */
  *backward(to: number, from: number): Generator<number> {
    const [low, high] = [Math.max(from, this.first), Math.min(to, this.last)]
    for (let day = dayOf(high); day >= dayOf(low); day -= 1) {
      const starts = this.#startsOn(day)
      for (let index = starts.length - 1; index >= 0; index -= 1) {
        const time = day * DAY + (starts[index] ?? 0)
        if (time <= high && time >= low) yield time
      }
    }
  }

  /** The starts from `from` up to `to`. */
  *forward(from: number, to: number): Generator<number> {
    const [low, high] = [Math.max(from, this.first), Math.min(to, this.last)]
    for (let day = dayOf(low); day <= dayOf(high); day += 1) {
      for (const start of this.#startsOn(day)) {
        const time = day * DAY + start
        if (time <= high && time >= low) yield time
      }
    }
  }

  /** The first interval between two starts that is shorter than `length`, or null. */
  intervalBelow(length: number): number | null {
    let before = Number.NEGATIVE_INFINITY
    let looked = 0
    for (const start of this.forward(this.first, this.first + CALENDAR_CYCLE_DAYS * DAY)) {
      if (start - before < length) return start - before
      before = start
      looked += 1
      if (looked === ENOUGH_STARTS) return null
    }
    return null
  }

  #endOfCount(count: number): number {
    let left = count
    for (const start of this.forward(this.first, this.first + MAX_COUNT_DAYS * DAY)) {
      left -= 1
      if (left === 0) return start
    }
    return Number.POSITIVE_INFINITY
  }

  #startsOn(day: number): readonly number[] {
    if (this.#rule.positions !== null) return this.#chosenOn(day)
    if (!this.#interval(day) || !this.#matches(day)) return NONE
    return this.#rule.frequency === 'HOURLY' ? this.#inHourlyInterval(day) : this.#timesOfDay
  }

  /** INTERVAL counts hours in this case, so days may differ. */
  #inHourlyInterval(day: number): readonly number[] {
    const { interval } = this.#rule
    if (interval === 1) return this.#timesOfDay
    const ahead = day * 24 - Math.floor(this.first / HOUR)
    return this.#timesOfDay.filter((time) => (ahead + Math.floor(time / HOUR)) % interval === 0)
  }

  /** BYSETPOS chooses among all starts of a month or year. */
  #chosenOn(day: number): readonly number[] {
    if (!this.#interval(day)) return NONE
    const period = this.#periodOf(day)
    if (this.#chosen?.index !== period.index) {
      this.#chosen = { index: period.index, starts: this.#choose(period) }
    }
    return this.#chosen.starts.get(day) ?? NONE
  }

  #choose({ first, last }: Period): Map<number, number[]> {
    const days: number[] = []
    for (let day = first; day <= last; day += 1) if (this.#matches(day)) days.push(day)
    const perDay = this.#timesOfDay.length
    const all = days.length * perDay
    const indexes = (this.#rule.positions ?? []).map((position) => (position > 0 ? position - 1 : all + position))
    const chosen = new Map<number, number[]>()
    for (const index of [...new Set(indexes)].sort((a, b) => a - b)) {
      const day = days[Math.floor(index / perDay)]
      const time = this.#timesOfDay[index % perDay]
      if (index < 0 || day === undefined || time === undefined) continue
      chosen.set(day, [...(chosen.get(day) ?? []), time])
    }
    return chosen
  }

  #periodOf(day: number): Period {
    const { frequency, weekNumbers, weekStart } = this.#rule
    const { year, month } = dateOf(day)
    if (frequency === 'MONTHLY') {
      const first = dayNumber(year, month, 1)
      return { index: year * 12 + month, first, last: first + daysInMonth({ year, month, day: 1 }) - 1 }
    }
    if (weekNumbers === null) {
      return { index: year, first: dayNumber(year, 1, 1), last: dayNumber(year, 12, 31) }
    }
    const index = weekYearOf(day, weekStart)
    return { index, first: startOfWeekYear(index, weekStart), last: startOfWeekYear(index + 1, weekStart) - 1 }
  }

  /** Whether INTERVAL lets the rule start on this day. */
  #intervalCheck(): (day: number) => boolean {
    const { frequency, interval, weekStart } = this.#rule
    if (interval === 1 || frequency === 'HOURLY') return () => true
    if (frequency === 'DAILY') return (day) => (day - this.#firstDay) % interval === 0
    if (frequency === 'WEEKLY') {
      const firstWeek = startOfWeek(this.#firstDay, weekStart)
      return (day) => ((startOfWeek(day, weekStart) - firstWeek) / 7) % interval === 0
    }
    const firstIndex = this.#periodOf(this.#firstDay).index
    return (day) => (this.#periodOf(day).index - firstIndex) % interval === 0
  }

  /** Whether the BY parts allow this day. Each part that the rule has must allow it. */
  #matches(day: number): boolean {
    const { frequency, months, monthDays, yearDays, weekNumbers, weekdays, weekStart } = this.#rule
    const date = dateOf(day)
    if (months !== null && !months.includes(date.month)) return false
    if (monthDays !== null && !includesEither(monthDays, date.day, daysInMonth(date))) return false
    if (yearDays !== null && !includesEither(yearDays, dayOfYear(day, date.year), daysInYear(date.year))) return false
    if (weekNumbers !== null && !isInWeeks(weekNumbers, day, weekStart)) return false
    if (weekdays === null) return true
    const weekday = weekdayOf(day)
    const inYear = frequency === 'YEARLY' && months === null
    return weekdays.some(({ weekday: wanted, nth }) => {
      if (wanted !== weekday || nth === null) return wanted === weekday
      const place = inYear ? dayOfYear(day, date.year) : date.day
      const days = inYear ? daysInYear(date.year) : daysInMonth(date)
      return nth === (nth > 0 ? Math.ceil(place / 7) : -Math.ceil((days - place + 1) / 7))
    })
  }
}

const dayOfYear = (day: number, year: number) => day - dayNumber(year, 1, 1) + 1

/** Whether the list contains this place. Negative numbers count from the end. */
const includesEither = (list: readonly number[], place: number, total: number) =>
  list.includes(place) || list.includes(place - total - 1)

function isInWeeks(weekNumbers: readonly number[], day: number, weekStart: number): boolean {
  const year = weekYearOf(day, weekStart)
  const first = startOfWeekYear(year, weekStart)
  const weeks = (startOfWeekYear(year + 1, weekStart) - first) / 7
  return includesEither(weekNumbers, Math.floor((day - first) / 7) + 1, weeks)
}

/** RFC 5545 derives parts that are missing in the rule from its first start. */
function withDefaults(rule: Rule, first: number): Rule {
  const day = dayOf(first)
  const { month, day: monthDay } = dateOf(day)
  const time = modulo(first, DAY)
  const { frequency, weekdays, monthDays, yearDays, weekNumbers } = rule
  const saysDay = weekdays !== null || monthDays !== null || yearDays !== null
  const sameWeekday = [{ weekday: weekdayOf(day), nth: null }]
  return {
    ...rule,
    hours: rule.hours ?? (frequency === 'HOURLY' ? null : [Math.floor(time / HOUR)]),
    minutes: rule.minutes ?? [Math.floor(time / 60_000) % 60],
    seconds: rule.seconds ?? [Math.floor(time / 1_000) % 60],
    ...(!saysDay && (frequency === 'WEEKLY' || weekNumbers !== null) ? { weekdays: sameWeekday } : {}),
    ...(!saysDay && weekNumbers === null && (frequency === 'MONTHLY' || frequency === 'YEARLY')
      ? { monthDays: [monthDay], months: rule.months ?? (frequency === 'YEARLY' ? [month] : null) }
      : {}),
  }
}

function timesOfDay({ hours, minutes, seconds }: Rule): number[] {
  const everyHour = Array.from({ length: 24 }, (_, hour) => hour)
  const times = (hours ?? everyHour).flatMap((hour) =>
    (minutes ?? []).flatMap((minute) =>
      (seconds ?? []).map((second) => hour * HOUR + minute * 60_000 + second * 1_000),
    ),
  )
  return [...new Set(times)].sort((a, b) => a - b)
}
