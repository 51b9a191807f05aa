import { InvalidArgumentError } from 'commander'
import { parseDuration } from './values.ts'

/**
 * The one way to write times. What could mean two moments is refused. Times without a zone are those of this machine.
 */

const SECOND_MS = 1_000
const DAY_MS = 86_400_000

const DAYS: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const ZONED = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i

const COMMON = '14:30, "tomorrow 02:00", 2026-01-31, "2026-01-31 09:00" or 2026-01-31T09:00:00Z'

const ALLOWED = {
  past: `Write it as 2h or 7d (ago), now, yesterday, ${COMMON}.`,
  future: `Write it as +2h (from now), now, ${COMMON}.`,
}

/** Parses the time of something that has happened: `2h` means two hours ago. */
export const parsePastTime = (text: string): string => parseTime(text, 'past', new Date())

/** Parses the time of something that is to come: `+2h` means in two hours. */
export const parseFutureTime = (text: string): string => parseTime(text, 'future', new Date())

/** Parses a time that must not be over, such as that of a start: `2026-11-29` alone is the midnight with which the day began. */
export function parseComingTime(text: string): string {
  const now = new Date()
  const time = parseTime(text, 'future', now)
  if (Date.parse(time) >= now.getTime()) return time
  throw new InvalidArgumentError(`This time is over: it is ${time}. Write now, +2h, 14:30 or "tomorrow 02:00".`)
}

/** @throws InvalidArgumentError that says what is allowed */
export function parseTime(text: string, direction: keyof typeof ALLOWED, now: Date): string {
  const words = text.trim()
  const allowed = ALLOWED[direction]
  if (words === 'now') return now.toISOString()
  const zoned = ZONED.exec(words)
  if (zoned) return parseZoned(zoned, allowed)
  const [, plus, duration] = /^(\+?)([\d.]+[a-z]+)$/.exec(words) ?? []
  if (duration === undefined) return formatZoned(parseLocal(words, direction, now))
  if (plus === '' && direction === 'future')
    throw new InvalidArgumentError(`"${words}" could be before or after now: write +${words} for after now.`)
  return addDuration(now, duration, plus === '' ? -1 : 1, allowed)
}

function addDuration(now: Date, duration: string, sign: 1 | -1, allowed: string): string {
  try {
    return new Date(now.getTime() + sign * parseDuration(duration)).toISOString()
  } catch {
    throw new InvalidArgumentError(allowed)
  }
}

/** Keeps the zone: a recurrence repeats in it. */
function parseZoned(
  [text, date = '', clock = '', seconds = ':00', zone = '']: RegExpExecArray,
  allowed: string,
): string {
  const [, year, month, day] = DATE.exec(date) ?? []
  const time = `${date}T${clock}${seconds}${zone.toUpperCase()}`
  if (Number.isNaN(Date.parse(time)) || !isDate(Number(year), Number(month), Number(day)))
    throw new InvalidArgumentError(`"${text}" is no time that exists. ${allowed}`)
  return time
}

function parseLocal(text: string, direction: keyof typeof ALLOWED, now: Date): Date {
  const allowed = ALLOWED[direction]
  const [first = '', ...rest] = text.split(/[ T]/)
  const clock = readClock(rest.length === 0 && CLOCK.test(first) ? first : (rest[0] ?? '0:00'))
  const date = DATE.exec(first)
  if (clock === undefined || rest.length > 1 || (!date && !Object.hasOwn(DAYS, first) && !CLOCK.test(first)))
    throw new InvalidArgumentError(allowed)
  if (date) {
    const [year = 0, month = 0, day = 0] = date.slice(1).map(Number)
    if (!isDate(year, month, day)) throw new InvalidArgumentError(`There is no day ${first}. ${allowed}`)
    return at(year, month - 1, day, clock)
  }
  const inDays = (days: number) => at(now.getFullYear(), now.getMonth(), now.getDate() + days, clock)
  if (Object.hasOwn(DAYS, first)) return inDays(DAYS[first] ?? 0)
  // A time of day alone: the last time that the clock showed it, or the next one.
  const today = inDays(0)
  if (direction === 'past') return today.getTime() > now.getTime() ? inDays(-1) : today
  return today.getTime() <= now.getTime() ? inDays(1) : today
}

type Clock = [hours: number, minutes: number, seconds: number]

function readClock(text: string): Clock | undefined {
  const [, hours, minutes, seconds = '0'] = CLOCK.exec(text) ?? []
  const clock: Clock = [Number(hours), Number(minutes), Number(seconds)]
  return hours !== undefined && clock[0] < 24 && clock[1] < 60 && clock[2] < 60 ? clock : undefined
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Refuses the hour that the clock leaves out in spring, and the one that it shows twice in autumn. */
function at(year: number, month: number, day: number, [hours, minutes, seconds]: Clock): Date {
  const time = new Date(year, month, day, hours, minutes, seconds)
  const shown = `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
  const withZone = 'give a zone, such as 2026-01-31T09:00:00+01:00'
  if (time.getHours() !== hours || time.getMinutes() !== minutes)
    throw new InvalidArgumentError(`The clock here leaves out ${shown} on that day: ${withZone}.`)
  const offset = (ms: number) => new Date(time.getTime() + ms).getTimezoneOffset()
  const change = Math.abs(offset(DAY_MS) - offset(-DAY_MS)) * 60 * SECOND_MS
  const isTwice = [-change, change].some((ms) => {
    const other = new Date(time.getTime() + ms)
    return ms !== 0 && other.getHours() === hours && other.getMinutes() === minutes
  })
  if (isTwice) throw new InvalidArgumentError(`The clock here shows ${shown} twice on that day: ${withZone}.`)
  return time
}

/** With the zone of this machine, such as `2026-01-31T09:00:00+01:00`. */
function formatZoned(time: Date): string {
  const offset = -time.getTimezoneOffset()
  const local = new Date(time.getTime() + offset * 60 * SECOND_MS).toISOString().slice(0, 19)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
}
