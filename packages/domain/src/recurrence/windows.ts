import { LRUCache } from 'lru-cache'
import { POSSIBLE_RULES, parseRule, ruleProblem } from './rule.ts'
import { DAY, dayOf, MAX_SEARCH_DAYS, Schedule } from './schedule.ts'
import { fixedClock, isTimeZone, type LocalClock, zoneClock } from './time-zones.ts'

/** Windows of equal length that begin when the rule says. */
export interface Recurring {
  start_time: Date | string
  end_time: Date | string
  /** The value of an RFC 5545 RRULE, without `RRULE:`. */
  recurrence: string
  /** UTC offset for the rule if `time_zone` is null, such as `+02:00`. Null is UTC. */
  start_offset: string | null
  /** The time zone of the rule, such as `Europe/Berlin`: windows begin at the same local time all year. */
  time_zone?: string | null
}

const MAX_WINDOW_DAYS = 366
/** A verdict covers no longer period than this, which bounds the cost of one evaluation. */
const LOOK_AHEAD = 7 * DAY
/** An entry takes about 1 KiB. */
const REMEMBERED = 10_000

/** Why these windows cannot recur by this rule, or null. */
export function recurrenceProblem(recurring: Recurring): string | null {
  const problem = ruleProblem(recurring.recurrence)
  if (problem !== null) return problem
  const { length, schedule } = planOf(recurring)
  if (length > MAX_WINDOW_DAYS * DAY) return `must not repeat windows of more than ${MAX_WINDOW_DAYS} days`
  let before: number | null = null
  for (const day of schedule.days(schedule.first, schedule.first + MAX_SEARCH_DAYS)) {
    if (before !== null && (day - before) * DAY < length) return tooLong(day - before)
    before = day
    if (length <= DAY) break
  }
  if (before === null) return `never matches: no day up to UNTIL, or within 100 years, has all parts; ${POSSIBLE_RULES}`
  return schedule.neverReachesCount ? 'does not reach its COUNT within 100 years' : null
}

const tooLong = (days: number) =>
  `starts windows ${days === 1 ? '1 day' : `${days} days`} apart, and each lasts longer; end them earlier or repeat them less often`

interface Plan {
  /** When the first window begins, in milliseconds. */
  first: number
  /** Of each window, in milliseconds. */
  length: number
  schedule: Schedule
  clock: LocalClock
  /** From midnight to the start of each window on the local clock. */
  timeOfDay: number
}

/** Counts in local times, as if they were UTC, so a day has exactly one 18:00. */
function planOf({ recurrence, start_time, end_time, start_offset, time_zone }: Recurring): Plan {
  const first = new Date(start_time).getTime()
  // If this process does not know the time zone, it uses the offset. Otherwise every create would fail.
  const clock =
    typeof time_zone === 'string' && isTimeZone(time_zone)
      ? zoneClock(time_zone)
      : fixedClock(offsetMinutes(start_offset) * 60_000)
  const firstTime = clock.timeAt(first)
  const firstDay = dayOf(firstTime)
  const timeOfDay = firstTime - firstDay * DAY
  const rule = parseRule(recurrence)
  let lastDay = Number.POSITIVE_INFINITY
  if (rule.until !== null) {
    const until = rule.until.isUtc ? clock.timeAt(rule.until.time) : rule.until.time
    // UNTIL has no fraction of a second.
    lastDay = dayOf(until - Math.floor(timeOfDay / 1_000) * 1_000)
  }
  const schedule = new Schedule(rule, firstDay, lastDay)
  return { first, length: new Date(end_time).getTime() - first, schedule, clock, timeOfDay }
}

/** Clocks change by at most a day, where a zone crosses the date line. */
const CLOCK_CHANGE_DAYS = 2

/** The starts of windows between two moments, both included, in order. The first window always counts. */
function* startsBetween({ first, schedule, clock, timeOfDay }: Plan, from: number, to: number): Generator<number> {
  if (from <= first && first <= to) yield first
  const firstDay = Math.max(dayOf(clock.timeAt(from)) - CLOCK_CHANGE_DAYS, schedule.first + 1)
  let before = Number.NEGATIVE_INFINITY
  for (const day of schedule.days(firstDay, dayOf(clock.timeAt(to)) + CLOCK_CHANGE_DAYS)) {
    const start = clock.momentOf(day * DAY + timeOfDay)
    // Two days in a row begin at the same moment if clocks skip one of them.
    if (from <= start && start <= to && start !== before) yield start
    before = start
  }
}

/** Whether a window is open, and how long this is known. */
interface WindowVerdict {
  /** The start of the last window that has begun and not ended; null when there is none. */
  start: number | null
  /** The verdict holds from this moment on. */
  from: number
  /** The verdict holds until just before this moment. Infinity if no further window begins. */
  until: number
}

const remembered = new LRUCache<string, { plan: Plan; verdict: WindowVerdict }>({ max: REMEMBERED })

/** Contains everything that a verdict depends on. */
const keyOf = ({ start_time, end_time, start_offset, time_zone, recurrence }: Recurring) =>
  `${new Date(start_time).getTime()} ${new Date(end_time).getTime()} ${start_offset} ${time_zone} ${recurrence}`

/**
 * The last window that has begun and not ended at `now`. The first window is `start_time` itself, even if the rule does not
 * include it. Each verdict is cached until its next boundary.
 */
export function windowVerdict(recurring: Recurring, now: number): WindowVerdict {
  const key = keyOf(recurring)
  const known = remembered.get(key)
  if (known !== undefined && known.verdict.from <= now && now < known.verdict.until) return known.verdict
  const plan = known?.plan ?? planOf(recurring)
  const verdict = verdictAt(plan, now)
  remembered.set(key, { plan, verdict })
  return verdict
}

function verdictAt(plan: Plan, now: number): WindowVerdict {
  const { first, length, schedule, clock } = plan
  if (now < first) return { start: null, from: Number.NEGATIVE_INFINITY, until: first }
  let start: number | null = null
  for (const each of startsBetween(plan, now - length + 1, now)) start = each
  let until = now + LOOK_AHEAD
  if (start !== null) until = Math.min(until, start + length)
  else if (dayOf(clock.timeAt(now)) - CLOCK_CHANGE_DAYS > schedule.last) until = Number.POSITIVE_INFINITY
  for (const each of startsBetween(plan, now + 1, Math.min(until, now + LOOK_AHEAD))) {
    until = each
    break
  }
  return { start, from: start ?? now, until }
}

/**
 * The starts of the windows that end after `now`, in order: those up to `until`, and the next one after it if no window begins
 * between `now` and `until`. Finds none after `farthest`, and at most `most`.
 */
export function startsFrom(
  recurring: Recurring,
  { now, until, farthest, most }: Record<'now' | 'until' | 'farthest' | 'most', number>,
): number[] {
  const plan = remembered.get(keyOf(recurring))?.plan ?? planOf(recurring)
  const starts: number[] = []
  for (const start of startsBetween(plan, now - plan.length + 1, farthest)) {
    const hasNext = (starts.at(-1) ?? now) > now
    if (starts.length === most || (start > until && hasNext)) break
    starts.push(start)
  }
  return starts
}

/** The end of the last window; null for a rule without UNTIL and COUNT. For a rule that starts seldom, it is a later moment. */
export function endOfRecurrence(recurring: Recurring): Date | null {
  const plan = planOf(recurring)
  const { first, length, schedule, clock, timeOfDay } = plan
  if (schedule.last === Number.POSITIVE_INFINITY) return null
  const latest = clock.momentOf(schedule.last * DAY + timeOfDay)
  let last: number | null = null
  for (const start of startsBetween(plan, latest - MAX_WINDOW_DAYS * DAY, latest)) last = start
  return new Date(Math.max(first, last ?? latest) + length)
}

/** How many minutes the clocks of this offset are ahead of UTC. */
function offsetMinutes(offset: string | null): number {
  const match = /^([+-])(\d{2}):(\d{2})$/.exec(offset ?? '')
  if (match === null) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return match[1] === '-' ? -minutes : minutes
}

/** The UTC offset of an ISO 8601 timestamp, such as `+02:00`. */
export function offsetOf(timestamp: string): string {
  const match = /([+-])(\d{2}):?(\d{2})?$/.exec(timestamp.replace(/^[^T ]*/i, ''))
  return match === null ? '+00:00' : `${match[1]}${match[2]}:${match[3] ?? '00'}`
}
