import type { LocalClock } from './time-zones.ts'
import { fixedClock } from './time-zones.ts'

export const MAX_RECURRENCE_LENGTH = 500
/** A rule may start this many windows a day: enough for a calendar of freezes, and it bounds the cost of each evaluation. */
const MAX_STARTS_A_DAY = 100
const MAX_COUNT = 500
const MAX_INTERVAL = 1_000

const FREQUENCIES = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const WEEKDAY = `(${WEEKDAYS.join('|')})`

type Frequency = (typeof FREQUENCIES)[number]

/** An RFC 5545 rule. A part that the rule does not have is null. */
export interface Rule {
  frequency: Frequency
  interval: number
  count: number | null
  /** The value of UNTIL as it is written. */
  until: string | null
  /** Monday is 0. */
  weekStart: number
  months: readonly number[] | null
  weekNumbers: readonly number[] | null
  yearDays: readonly number[] | null
  monthDays: readonly number[] | null
  /** `nth` is null for every such day. */
  weekdays: readonly { weekday: number; nth: number | null }[] | null
  hours: readonly number[] | null
  minutes: readonly number[] | null
  seconds: readonly number[] | null
  positions: readonly number[] | null
}

const number = (low: number, high: number) => (text: string) =>
  /^[0-9]{1,5}$/.test(text) && Number(text) >= low && Number(text) <= high
/** Counts from the beginning, or with a minus sign from the end. */
const fromEitherEnd = (high: number) => (text: string) =>
  /^[+-]?[0-9]{1,3}$/.test(text) && Math.abs(Number(text)) >= 1 && Math.abs(Number(text)) <= high
const listOf = (isItem: (text: string) => boolean) => (text: string) => text.split(',').every(isItem)

/** The allowed values of each part. A part that is not in this table is refused. */
const PARTS: Record<string, { isValid(value: string): boolean; expected: string }> = {
  FREQ: {
    isValid: (value) => FREQUENCIES.some((frequency) => frequency === value),
    expected: `one of ${FREQUENCIES.join(', ')}`,
  },
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

/** What is wrong with the text of a rule, or null. */
export function ruleProblem(recurrence: string): string | null {
  if (/^\s*(RRULE|DTSTART|EXDATE|RDATE)/i.test(recurrence)) return 'must be the value of an RRULE alone, as FREQ=WEEKLY'
  const parts = new Map<string, string>()
  for (const part of recurrence.toUpperCase().split(';')) {
    const [name = '', value = '', ...rest] = part.split('=')
    const allowed = PARTS[name]
    if (allowed === undefined || rest.length > 0)
      return `has a part that is not understood: ${part.slice(0, 40) || '(none)'}`
    if (parts.has(name)) return `has ${name} twice`
    if (!allowed.isValid(value)) return `${name} must be ${allowed.expected}`
    parts.set(name, value)
  }
  return combinationProblem(parts)
}

function combinationProblem(parts: ReadonlyMap<string, string>): string | null {
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

/** Parses a rule that `ruleProblem` has accepted. */
export function parseRule(recurrence: string): Rule {
  const parts = new Map(
    recurrence
      .toUpperCase()
      .split(';')
      .map((part): [string, string] => {
        const [name = '', value = ''] = part.split('=')
        return [name, value]
      }),
  )
  const numbers = (name: string) => parts.get(name)?.split(',').map(Number) ?? null
  const count = parts.get('COUNT')
  return {
    frequency: FREQUENCIES.find((frequency) => frequency === parts.get('FREQ')) ?? 'DAILY',
    interval: Number(parts.get('INTERVAL') ?? 1),
    count: count === undefined ? null : Number(count),
    until: parts.get('UNTIL') ?? null,
    weekStart: WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO'),
    months: numbers('BYMONTH'),
    weekNumbers: numbers('BYWEEKNO'),
    yearDays: numbers('BYYEARDAY'),
    monthDays: numbers('BYMONTHDAY'),
    weekdays:
      parts
        .get('BYDAY')
        ?.split(',')
        .map((day) => ({
          weekday: WEEKDAYS.indexOf(day.slice(-2)),
          nth: day.length > 2 ? Number(day.slice(0, -2)) : null,
        })) ?? null,
    hours: numbers('BYHOUR'),
    minutes: numbers('BYMINUTE'),
    seconds: numbers('BYSECOND'),
    positions: numbers('BYSETPOS'),
  }
}

/**
 * The last moment of an UNTIL on the local clock. A date lasts until its end. Null if the text is neither a time nor a date.
 */
export function untilOf(text: string, clock: Pick<LocalClock, 'timeAt'>): number | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '23', minute = '59', second = '59', zone = ''] = match
  const moment = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(moment) || new Date(moment).getUTCDate() !== Number(day)) return null
  return zone === 'Z' ? clock.timeAt(moment) : moment
}
