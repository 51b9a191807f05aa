import { RRuleTemporal } from 'rrule-temporal'
import { fixedClock, type LocalClock, zoneClock } from './time-zones.ts'

/** What repeats: windows as long as the first one, that begin when the rule says. */
export interface Recurring {
  start_time: Date | string
  end_time: Date | string
  /** The value of an RFC 5545 RRULE, without `RRULE:`. */
  recurrence: string
  /** The zone in which it counts where `time_zone` says none, as `+02:00`; null is UTC. */
  start_offset: string | null
  /** The zone in which it counts, as `Europe/Berlin`: a window begins at the same time of day all year. */
  time_zone?: string | null
}

export const MAX_RECURRENCE_LENGTH = 500
/** A window may begin so often at most within a day: more than a calendar of freezes needs. */
const MAX_STARTS_A_DAY = 100
const MAX_COUNT = 500
const MAX_INTERVAL = 1_000
const MAX_RECURRING_DAYS = 366
/** Where a COUNT leads is looked for in so many stretches of time; see `endOfCount`. */
const MAX_STRETCHES = 100
const REMEMBERED_COUNTS = 1_000

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const MONTH = 31 * DAY
const YEAR = 366 * DAY

const FREQUENCIES = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY']
const WEEKDAY = '(MO|TU|WE|TH|FR|SA|SU)'

const number = (low: number, high: number) => (text: string) =>
  /^[0-9]{1,5}$/.test(text) && Number(text) >= low && Number(text) <= high
/** Counted from the beginning, or with a minus from the end. */
const fromEitherEnd = (high: number) => (text: string) =>
  /^[+-]?[0-9]{1,3}$/.test(text) && Math.abs(Number(text)) >= 1 && Math.abs(Number(text)) <= high
const listOf = (isItem: (text: string) => boolean) => (text: string) => text.split(',').every(isItem)

/** What each part of a rule may say; a part that is not here is refused. */
const PARTS: Record<string, { isValid(value: string): boolean; expected: string }> = {
  FREQ: { isValid: (value) => FREQUENCIES.includes(value), expected: `one of ${FREQUENCIES.join(', ')}` },
  INTERVAL: { isValid: number(1, MAX_INTERVAL), expected: `1 to ${MAX_INTERVAL}` },
  COUNT: { isValid: number(1, MAX_COUNT), expected: `1 to ${MAX_COUNT}` },
  UNTIL: {
    isValid: (value) => untilOf(value, fixedClock(0)) !== null,
    expected: 'a moment as 20261231T235959Z, or a date as 20261231',
  },
  BYMONTH: { isValid: listOf(number(1, 12)), expected: 'months 1 to 12' },
  BYWEEKNO: { isValid: listOf(fromEitherEnd(53)), expected: 'weeks 1 to 53, or -1 to -53' },
  BYYEARDAY: { isValid: listOf(fromEitherEnd(366)), expected: 'days 1 to 366, or -1 to -366' },
  BYMONTHDAY: { isValid: listOf(fromEitherEnd(31)), expected: 'days 1 to 31, or -1 to -31' },
  BYDAY: {
    isValid: listOf((day) => new RegExp(`^([+-]?[1-9][0-9]?)?${WEEKDAY}$`).test(day)),
    expected: 'days as MO, or numbered ones as 1MO or -1FR',
  },
  BYHOUR: { isValid: listOf(number(0, 23)), expected: 'hours 0 to 23' },
  BYMINUTE: { isValid: listOf(number(0, 59)), expected: 'minutes 0 to 59' },
  BYSECOND: { isValid: listOf(number(0, 59)), expected: 'seconds 0 to 59' },
  BYSETPOS: { isValid: listOf(fromEitherEnd(366)), expected: 'positions 1 to 366, or -1 to -366' },
  WKST: { isValid: (value) => new RegExp(`^${WEEKDAY}$`).test(value), expected: 'a day as MO' },
}

/** Why these windows cannot recur by this rule, or null when they can. */
export function recurrenceProblem(recurring: Recurring): string | null {
  const { recurrence } = recurring
  if (/^\s*(RRULE|DTSTART|EXDATE|RDATE)/i.test(recurrence)) return 'must be the value of an RRULE alone, as FREQ=WEEKLY'
  const parts = new Map<string, string>()
  for (const part of recurrence.toUpperCase().split(';')) {
    const [name = '', value = '', ...rest] = part.split('=')
    const rule = PARTS[name]
    if (rule === undefined || rest.length > 0)
      return `has a part that is not understood: ${part.slice(0, 40) || '(none)'}`
    if (parts.has(name)) return `has ${name} twice`
    if (!rule.isValid(value)) return `${name} must be ${rule.expected}`
    parts.set(name, value)
  }
  const problem = betweenParts(parts) ?? lengthProblem(recurring)
  if (problem !== null || !parts.has('COUNT')) return problem
  return endOfCount(clockOf(recurring)) === null ? 'does not come to its COUNT in any near time' : null
}

function betweenParts(parts: ReadonlyMap<string, string>): string | null {
  const frequency = parts.get('FREQ')
  const has = (name: string) => parts.has(name)
  if (frequency === undefined) return 'must say FREQ'
  if (has('COUNT') && has('UNTIL')) return 'must not have both COUNT and UNTIL'
  if (has('BYWEEKNO') && frequency !== 'YEARLY') return 'BYWEEKNO needs FREQ=YEARLY'
  if (has('BYYEARDAY') && frequency !== 'YEARLY' && frequency !== 'HOURLY') return 'BYYEARDAY needs FREQ=YEARLY'
  if (has('BYMONTHDAY') && frequency === 'WEEKLY') return 'BYMONTHDAY does not go with FREQ=WEEKLY'
  if (has('BYWEEKNO') && (has('BYYEARDAY') || has('BYMONTHDAY'))) {
    return 'BYWEEKNO does not go with BYYEARDAY or BYMONTHDAY'
  }
  const isNumbered = /[0-9]/.test(parts.get('BYDAY') ?? '')
  if (isNumbered && ((frequency !== 'MONTHLY' && frequency !== 'YEARLY') || has('BYWEEKNO'))) {
    return 'numbered days in BYDAY need FREQ=MONTHLY or FREQ=YEARLY, without BYWEEKNO'
  }
  if (has('BYSETPOS') && frequency !== 'MONTHLY' && frequency !== 'YEARLY') {
    return 'BYSETPOS needs FREQ=MONTHLY or FREQ=YEARLY'
  }
  if (has('BYSETPOS') && ![...parts.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS')) {
    return 'BYSETPOS needs another BY part to choose from'
  }
  const starts = ['BYHOUR', 'BYMINUTE', 'BYSECOND'].map((name) => parts.get(name)?.split(',').length ?? 1)
  const hours = frequency === 'HOURLY' && !has('BYHOUR') ? 24 : 1
  if (starts.reduce((a, b) => a * b, hours) > MAX_STARTS_A_DAY) {
    return `must not begin more than ${MAX_STARTS_A_DAY} windows a day`
  }
  return null
}

function lengthProblem({ start_time, end_time }: Pick<Recurring, 'start_time' | 'end_time'>): string | null {
  const length = new Date(end_time).getTime() - new Date(start_time).getTime()
  return length > MAX_RECURRING_DAYS * DAY ? `must not repeat windows of more than ${MAX_RECURRING_DAYS} days` : null
}

/**
 * The beginning of the last window that has begun and not ended at `now`, or null. The first window is `start_time`
 * itself, whether or not the rule names it: nobody who gives its two ends means that it does not count.
 */
export function presentStart(recurring: Recurring, now: Date): Date | null {
  const start = new Date(recurring.start_time).getTime()
  const length = new Date(recurring.end_time).getTime() - start
  if (now.getTime() < start) return null
  const ruleClock = clockOf(recurring)
  const { rule, clock } = ruleClock
  const end = endOfCount(ruleClock) ?? Number.POSITIVE_INFINITY
  const from = clock.timeAt(now.getTime() - length) - clock.slack
  const until = Math.min(clock.timeAt(now.getTime()) + clock.slack, end)
  let last = start
  let lastTime = Number.NEGATIVE_INFINITY
  for (const time of startsBetween(rule, from, until).reverse()) {
    // Where clocks leap, a later time may be an earlier moment.
    if (time < lastTime - clock.slack) break
    const moment = clock.momentOf(time)
    if (moment < last || moment > now.getTime()) continue
    last = moment
    lastTime = Math.max(lastTime, time)
  }
  return now.getTime() < last + length ? new Date(last) : null
}

/** A rule on the clock by which it is counted. */
interface RuleClock {
  key: string
  rule: RRuleTemporal
  /** Where the rule begins on that clock. */
  start: number
  clock: LocalClock
  count: number | null
  /** How much time is looked through at once. */
  stretch: number
}

/**
 * A rule is counted in local times, as if these were UTC: whatever clocks do in summer, a day has one 18:00. Rules count
 * whole seconds, so what is left of one stays out of it. COUNT stays out too: it makes every look at a rule as long as
 * all that lies before.
 */
function clockOf({ recurrence, start_time, start_offset, time_zone }: Recurring): RuleClock {
  const startTime = new Date(start_time).getTime()
  const local = typeof time_zone === 'string' ? zoneClock(time_zone) : fixedClock(offsetMinutes(start_offset) * MINUTE)
  const fraction = ((startTime % 1_000) + 1_000) % 1_000
  const clock: LocalClock = {
    slack: local.slack,
    timeAt: (moment) => local.timeAt(moment - fraction),
    momentOf: (time) => local.momentOf(time) + fraction,
  }
  const start = clock.timeAt(startTime)
  const parts = new Map(
    recurrence
      .toUpperCase()
      .split(';')
      .map((part) => part.split('=') as [string, string]),
  )
  const count = parts.get('COUNT')
  const until = parts.get('UNTIL')
  parts.delete('COUNT')
  if (until !== undefined) parts.set('UNTIL', stamp(untilOf(until, local) ?? start))
  const text = [...parts].map((part) => part.join('=')).join(';')
  return {
    key: `${start} ${count} ${text}`,
    rule: new RRuleTemporal({ rruleString: `DTSTART:${stamp(start)}\nRRULE:${text}` }),
    start,
    clock,
    count: count === undefined ? null : Number(count),
    stretch: parts.get('FREQ') === 'HOURLY' ? MONTH : YEAR,
  }
}

const startsBetween = (rule: RRuleTemporal, from: number, to: number): number[] =>
  to < from ? [] : rule.between(new Date(from), new Date(to), true).map((moment) => moment.epochMilliseconds)

/** Found once: a COUNT can only be followed from its beginning. */
const countEnds = new Map<string, number | null>()

/** The last start that the rule's COUNT allows, on the rule's clock; null without COUNT, or where it is out of reach. */
function endOfCount({ key, rule, start, count, stretch }: RuleClock): number | null {
  if (count === null) return null
  const known = countEnds.get(key)
  if (known !== undefined) return known
  let left = count
  let end: number | null = null
  for (let number = 0; number < MAX_STRETCHES && end === null; number += 1) {
    const from = start + number * stretch
    // Both ends count, so a stretch stops short of the next.
    const starts = startsBetween(rule, from, from + stretch - 1)
    end = starts[left - 1] ?? null
    left -= starts.length
  }
  if (countEnds.size >= REMEMBERED_COUNTS) countEnds.clear()
  countEnds.set(key, end)
  return end
}

/** The last moment on the local clock; a date is meant to its end. Null when it is none. */
function untilOf(text: string, clock: LocalClock): number | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '23', minute = '59', second = '59', zone = ''] = match
  const moment = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(moment) || new Date(moment).getUTCDate() !== Number(day)) return null
  return zone === 'Z' ? clock.timeAt(moment) : moment
}

const stamp = (moment: number) => `${new Date(moment).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`

/** Minutes that clocks of this zone are ahead of UTC. */
function offsetMinutes(offset: string | null): number {
  const match = /^([+-])(\d{2}):(\d{2})$/.exec(offset ?? '')
  if (match === null) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return match[1] === '-' ? -minutes : minutes
}

/** The zone that an ISO 8601 timestamp is written in, as `+02:00`. */
export function offsetOf(timestamp: string): string {
  const match = /([+-])(\d{2}):?(\d{2})?$/.exec(timestamp.replace(/^[^T ]*/i, ''))
  return match === null ? '+00:00' : `${match[1]}${match[2]}:${match[3] ?? '00'}`
}
