export const MAX_RECURRENCE_LENGTH = 500
const MAX_COUNT = 500
const MAX_INTERVAL = 1_000

const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const WEEKDAY = `(${WEEKDAYS.join('|')})`

/** An RFC 5545 rule. A part that the rule does not have is null. */
export interface Rule {
  frequency: (typeof FREQUENCIES)[number]
  interval: number
  count: number | null
  /** The last local time at which a window may begin. An UNTIL that ends with Z is a moment of UTC. */
  until: { time: number; isUtc: boolean } | null
  /** Monday is 0. */
  weekStart: number
  months: readonly number[] | null
  monthDays: readonly number[] | null
  /** `nth` is null for every such day. */
  weekdays: readonly { weekday: number; nth: number | null }[] | null
  positions: readonly number[] | null
}

const number = (low: number, high: number) => (text: string) =>
  /^[0-9]{1,5}$/.test(text) && Number(text) >= low && Number(text) <= high
/** Counts from the beginning, or with a minus sign from the end. */
const fromEitherEnd = (high: number) => (text: string) =>
  /^[+-]?[0-9]{1,3}$/.test(text) && Math.abs(Number(text)) >= 1 && Math.abs(Number(text)) <= high
const listOf = (isItem: (text: string) => boolean) => (text: string) => text.split(',').every(isItem)

export const POSSIBLE_RULES =
  'a rule has FREQ=DAILY, WEEKLY, MONTHLY or YEARLY, and if needed INTERVAL, BYDAY (MO, 1MO, -1FR), BYMONTHDAY, BYMONTH, ' +
  'BYSETPOS, WKST, and COUNT or UNTIL, for example FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'

/** The allowed values of each part. A part that is not in this table is refused. */
const PARTS: Record<string, { isValid(value: string): boolean; expected: string }> = {
  FREQ: {
    isValid: (value) => FREQUENCIES.some((frequency) => frequency === value),
    expected: `one of ${FREQUENCIES.join(', ')}; ${POSSIBLE_RULES}`,
  },
  INTERVAL: { isValid: number(1, MAX_INTERVAL), expected: `1 to ${MAX_INTERVAL}` },
  BYDAY: {
    isValid: listOf((day) => new RegExp(`^([+-]?[1-9][0-9]?)?${WEEKDAY}$`).test(day)),
    expected: 'days as MO, or numbered ones as 1MO or -1FR',
  },
  BYMONTHDAY: { isValid: listOf(fromEitherEnd(31)), expected: 'days 1 to 31, or -1 to -31' },
  BYMONTH: { isValid: listOf(number(1, 12)), expected: 'months 1 to 12' },
  BYSETPOS: { isValid: listOf(fromEitherEnd(366)), expected: 'positions 1 to 366, or -1 to -366' },
  WKST: { isValid: (value) => new RegExp(`^${WEEKDAY}$`).test(value), expected: 'a day as MO' },
  COUNT: { isValid: number(1, MAX_COUNT), expected: `1 to ${MAX_COUNT}` },
  UNTIL: {
    isValid: (value) => untilOf(value) !== null,
    expected: 'a moment as 20261231T235959Z, or a date as 20261231',
  },
}

/** What is wrong with the text of a rule, or null. */
export function ruleProblem(recurrence: string): string | null {
  if (/^\s*(RRULE|DTSTART|EXDATE|RDATE)/i.test(recurrence)) return 'must be the value of an RRULE alone, as FREQ=WEEKLY'
  const parts = new Map<string, string>()
  for (const part of recurrence.toUpperCase().split(';')) {
    const [name = '', value = '', ...rest] = part.split('=')
    const allowed = PARTS[name]
    if (allowed === undefined || rest.length > 0) {
      return `has a part that is not possible: ${part.slice(0, 40) || '(none)'}; ${POSSIBLE_RULES}`
    }
    if (parts.has(name)) return `has ${name} twice`
    if (!allowed.isValid(value)) return `${name} must be ${allowed.expected}`
    parts.set(name, value)
  }
  return combinationProblem(parts)
}

function combinationProblem(parts: ReadonlyMap<string, string>): string | null {
  const frequency = parts.get('FREQ')
  const has = (name: string) => parts.has(name)
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY'
  if (frequency === undefined) return `must say FREQ; ${POSSIBLE_RULES}`
  if (has('COUNT') && has('UNTIL')) return 'must not have both COUNT and UNTIL'
  if (has('BYMONTHDAY') && frequency === 'WEEKLY') return 'BYMONTHDAY does not go with FREQ=WEEKLY'
  if (/[0-9]/.test(parts.get('BYDAY') ?? '') && !isLong) {
    return 'numbered days in BYDAY need FREQ=MONTHLY or FREQ=YEARLY'
  }
  if (has('BYSETPOS') && !isLong) return 'BYSETPOS needs FREQ=MONTHLY or FREQ=YEARLY'
  if (has('BYSETPOS') && !has('BYDAY') && !has('BYMONTHDAY') && !has('BYMONTH')) {
    return 'BYSETPOS needs another BY part to choose from'
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
  const days = parts.get('BYDAY')?.split(',') ?? null
  return {
    frequency: FREQUENCIES.find((frequency) => frequency === parts.get('FREQ')) ?? 'DAILY',
    interval: Number(parts.get('INTERVAL') ?? 1),
    count: numbers('COUNT')?.[0] ?? null,
    until: untilOf(parts.get('UNTIL') ?? ''),
    weekStart: WEEKDAYS.indexOf(parts.get('WKST') ?? 'MO'),
    months: numbers('BYMONTH'),
    monthDays: numbers('BYMONTHDAY'),
    weekdays:
      days?.map((day) => ({
        weekday: WEEKDAYS.indexOf(day.slice(-2)),
        nth: day.length > 2 ? Number(day.slice(0, -2)) : null,
      })) ?? null,
    positions: numbers('BYSETPOS'),
  }
}

/** A date lasts until its end. Null if the text is neither a time nor a date. */
function untilOf(text: string): Rule['until'] {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '23', minute = '59', second = '59', zone = ''] = match
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== Number(day)) return null
  return { time, isUtc: zone === 'Z' }
}
