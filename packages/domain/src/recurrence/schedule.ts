import type { Rule } from './rule.ts'

export const DAY = 24 * 60 * 60_000
/** A rule has to begin windows, and to reach its COUNT, within 100 years. This bounds the work for a hostile rule. */
export const MAX_SEARCH_DAYS = 36_600

/** The number of the day that contains this local time. Day 0 is 1970-01-01, a Thursday. */
export const dayOf = (time: number): number => Math.floor(time / DAY)

/** The days of a month or year, by their numbers. */
interface Period {
  first: number
  last: number
}
interface Month extends Period {
  year: number
  /** 1 to 12. */
  month: number
}

const contains = ({ first, last }: Period, day: number) => first <= day && day <= last

/**
 * The days on which a rule begins windows. Every window of a rule begins at the same time of day, so a day is enough.
 * The class tests single days. It never lists all starts since the first one, so the age of a rule costs nothing.
 */
export class Schedule {
  readonly first: number
  /** No start is later; Infinity for a rule without end. */
  readonly last: number
  readonly #rule: Rule
  readonly #firstPeriod: number
  /** The month of the last day that was tested. A Date for each day would take most of the time. */
  #month: Month
  /** The days that BYSETPOS chooses in one month or year. */
  #chosen: { period: Period; days: ReadonlySet<number> } | undefined

  /**
   * @param first the day of the first window
   * @param last the last day that UNTIL allows; Infinity without UNTIL
   */
  constructor(rule: Rule, first: number, last: number) {
    this.first = first
    this.last = last
    this.#month = monthOf(first)
    this.#rule = withDefaults(rule, first, this.#month)
    this.#firstPeriod = this.#periodOf(first)
    if (rule.count !== null) this.last = this.#endOfCount(rule.count)
  }

  /** Whether COUNT is not reached within MAX_SEARCH_DAYS. */
  get neverReachesCount(): boolean {
    return this.#rule.count !== null && this.last === Number.POSITIVE_INFINITY
  }

  /** The days from `from` up to `to` on which windows begin. */
  *days(from: number, to: number): Generator<number> {
    const last = Math.min(to, this.last)
    for (let day = Math.max(from, this.first); day <= last; day += 1) if (this.#startsOn(day)) yield day
  }

  /** Infinity if COUNT is not reached. */
  #endOfCount(count: number): number {
    let left = count
    for (const day of this.days(this.first, this.first + MAX_SEARCH_DAYS)) {
      left -= 1
      if (left === 0) return day
    }
    return Number.POSITIVE_INFINITY
  }

  #startsOn(day: number): boolean {
    if ((this.#periodOf(day) - this.#firstPeriod) % this.#rule.interval !== 0) return false
    return this.#rule.positions === null ? this.#matches(day) : this.#isChosen(day, this.#rule.positions)
  }

  /** The number of the day, week, month or year that contains this day. INTERVAL counts these. */
  #periodOf(day: number): number {
    const { frequency, interval, weekStart } = this.#rule
    if (frequency === 'DAILY' || interval === 1) return day
    if (frequency === 'WEEKLY') return Math.floor((day + 3 - weekStart) / 7)
    const { year, month } = this.#monthOf(day)
    return frequency === 'MONTHLY' ? year * 12 + month : year
  }

  /** BYSETPOS chooses among all days of a month or year that match. */
  #isChosen(day: number, positions: readonly number[]): boolean {
    const known = this.#chosen
    if (known !== undefined && contains(known.period, day)) return known.days.has(day)
    const month = this.#monthOf(day)
    const period = this.#rule.frequency === 'MONTHLY' ? month : yearOf(month)
    const matching: number[] = []
    for (let each = period.first; each <= period.last; each += 1) if (this.#matches(each)) matching.push(each)
    const days = new Set(matching.filter((_, index) => includesEither(positions, index + 1, matching.length)))
    this.#chosen = { period, days }
    return days.has(day)
  }

  /** Whether the BY parts allow this day. Each part that the rule has must allow it. */
  #matches(day: number): boolean {
    const { frequency, months, monthDays, weekdays } = this.#rule
    const month = this.#monthOf(day)
    const [dayOfMonth, daysInMonth] = [day - month.first + 1, month.last - month.first + 1]
    if (months !== null && !months.includes(month.month)) return false
    if (monthDays !== null && !includesEither(monthDays, dayOfMonth, daysInMonth)) return false
    if (weekdays === null) return true
    return weekdays.some(({ weekday, nth }) => {
      if (weekday !== weekdayOf(day) || nth === null) return weekday === weekdayOf(day)
      const { first, last } = frequency === 'YEARLY' && months === null ? yearOf(month) : month
      return nth === (nth > 0 ? Math.floor((day - first) / 7) + 1 : -Math.floor((last - day) / 7) - 1)
    })
  }

  #monthOf(day: number): Month {
    if (!contains(this.#month, day)) this.#month = monthOf(day)
    return this.#month
  }
}

/** RFC 5545 derives the day from the first start if the rule does not have it. */
function withDefaults(rule: Rule, first: number, { month, first: monthStart }: Month): Rule {
  if (rule.weekdays !== null || rule.monthDays !== null || rule.frequency === 'DAILY') return rule
  if (rule.frequency === 'WEEKLY') return { ...rule, weekdays: [{ weekday: weekdayOf(first), nth: null }] }
  const months = rule.months ?? (rule.frequency === 'YEARLY' ? [month] : null)
  return { ...rule, months, monthDays: [first - monthStart + 1] }
}

/** Monday is 0. */
const weekdayOf = (day: number) => (((day + 3) % 7) + 7) % 7

const dayNumber = (year: number, month: number, day: number) => dayOf(new Date(0).setUTCFullYear(year, month - 1, day))

function monthOf(day: number): Month {
  const date = new Date(day * DAY)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1]
  return { year, month, first: dayNumber(year, month, 1), last: dayNumber(year, month + 1, 1) - 1 }
}

const yearOf = ({ year }: Month): Period => ({ first: dayNumber(year, 1, 1), last: dayNumber(year, 12, 31) })

/** Whether the list contains this place. Negative numbers count from the end. */
const includesEither = (list: readonly number[], place: number, total: number) =>
  list.includes(place) || list.includes(place - total - 1)
