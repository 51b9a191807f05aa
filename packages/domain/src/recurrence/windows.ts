import { LRUCache } from 'lru-cache'
import { DAY } from './calendar.ts'
import { parseRule, ruleProblem, untilOf } from './rule.ts'
import { Schedule } from './schedule.ts'
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

const MAX_RECURRING_DAYS = 366
/** A verdict covers no longer period than this, which bounds the cost of one evaluation. */
const LOOK_AHEAD = 7 * DAY
/** An entry takes about 1 KiB. */
const REMEMBERED = 10_000

/** Why these windows cannot recur by this rule, or null. */
export function recurrenceProblem(recurring: Recurring): string | null {
  const problem = ruleProblem(recurring.recurrence)
  if (problem !== null) return problem
  const length = lengthOf(recurring)
  if (length > MAX_RECURRING_DAYS * DAY) return `must not repeat windows of more than ${MAX_RECURRING_DAYS} days`
  const { schedule } = plan(recurring)
  if (schedule.neverReachesCount) return 'does not come to its COUNT in any near time'
  const interval = schedule.intervalBelow(length)
  if (interval === null) return null
  return `starts windows ${duration(interval)} apart, and each lasts ${duration(length)}; end them earlier or repeat them less often`
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

interface Plan {
  schedule: Schedule
  clock: LocalClock
  verdict: WindowVerdict
}

const NO_VERDICT: WindowVerdict = { start: null, from: 0, until: Number.NEGATIVE_INFINITY }
const remembered = new LRUCache<string, Plan>({ max: REMEMBERED })

/**
 * The last window that has begun and not ended at `now`. The first window is `start_time` itself, even if the rule does not
 * include it. Each verdict is cached until its next boundary.
 */
export function windowVerdict(recurring: Recurring, now: number): WindowVerdict {
  const key = keyOf(recurring)
  const known = remembered.get(key) ?? { ...plan(recurring), verdict: NO_VERDICT }
  const { verdict } = known
  const isValid = verdict.from <= now && now < verdict.until
  const current = isValid ? verdict : evaluate(recurring, known, now)
  remembered.set(key, { ...known, verdict: current })
  return current
}

/**
 * The starts of the windows that end after `now`, in order: those up to `until`, and the next one after it if no window begins
 * between `now` and `until`. Finds none after `farthest`, and at most `most`.
 */
export function startsFrom(
  recurring: Recurring,
  { now, until, farthest, most }: Record<'now' | 'until' | 'farthest' | 'most', number>,
): number[] {
  const { schedule, clock } = remembered.get(keyOf(recurring)) ?? plan(recurring)
  const [first, length] = [startOf(recurring), lengthOf(recurring)]
  const isOver = (start: number) => start + length <= now
  const starts = new Set(isOver(first) || first > farthest ? [] : [first])
  let next = first > now ? first : Number.POSITIVE_INFINITY
  const [from, to] = [now - length, farthest]
  const times = schedule.forward(clock.timeAt(from) - clock.slackAt(from), clock.timeAt(to) + clock.slackAt(to))
  for (const time of times) {
    const start = clock.momentOf(time)
    if (isOver(start) || start > farthest) continue
    // Near a clock change, a later time may be an earlier moment.
    if (start > Math.max(until, next) + clock.slackAt(start) || starts.size > most) break
    starts.add(start)
    if (start > now) next = Math.min(next, start)
  }
  const wanted = [...starts].filter((start) => start <= until || start === next)
  return wanted.sort((a, b) => a - b).slice(0, most)
}

/**
 * The end of the last window; null for a rule without UNTIL and COUNT. Near a clock change, or for a rule that starts seldom,
 * it is a later moment.
 */
export function endOfRecurrence(recurring: Recurring): Date | null {
  const { schedule, clock } = plan(recurring)
  if (schedule.last === Number.POSITIVE_INFINITY) return null
  const [lastStart = schedule.last] = schedule.backward(schedule.last, schedule.last - MAX_RECURRING_DAYS * DAY)
  const moment = clock.momentOf(lastStart)
  return new Date(Math.max(startOf(recurring), moment + clock.slackAt(moment)) + lengthOf(recurring))
}

/** Contains everything that a verdict depends on. */
const keyOf = (recurring: Recurring) =>
  `${startOf(recurring)} ${lengthOf(recurring)} ${recurring.start_offset} ${recurring.time_zone} ${recurring.recurrence}`
const startOf = ({ start_time }: Recurring) => new Date(start_time).getTime()
const lengthOf = ({ start_time, end_time }: Recurring) => new Date(end_time).getTime() - new Date(start_time).getTime()

/**
 * Counts in local times, as if they were UTC, so a day has exactly one 18:00. Rules count whole seconds, so the fraction of a
 * second is added to each start.
 */
function plan({ recurrence, start_time, start_offset, time_zone }: Recurring): Omit<Plan, 'verdict'> {
  const start = new Date(start_time).getTime()
  // If this process does not know the time zone, it uses the offset. Otherwise every create would fail.
  const local =
    typeof time_zone === 'string' && isTimeZone(time_zone)
      ? zoneClock(time_zone)
      : fixedClock(offsetMinutes(start_offset) * 60_000)
  const fraction = ((start % 1_000) + 1_000) % 1_000
  const clock: LocalClock = {
    slackAt: local.slackAt,
    timeAt: (moment) => local.timeAt(moment - fraction),
    momentOf: (time) => local.momentOf(time) + fraction,
  }
  const rule = parseRule(recurrence)
  const until = rule.until === null ? null : untilOf(rule.until, local)
  return { schedule: new Schedule(rule, clock.timeAt(start), until ?? Number.POSITIVE_INFINITY), clock }
}

function evaluate(recurring: Recurring, { schedule, clock }: Omit<Plan, 'verdict'>, now: number): WindowVerdict {
  const first = startOf(recurring)
  const length = lengthOf(recurring)
  if (now < first) return { start: null, from: Number.NEGATIVE_INFINITY, until: first }
  const last = lastStart(first, now - length)
  const isOpen = now < last + length
  const next = nextStart(isOpen ? Math.min(last + length, now + LOOK_AHEAD) : now + LOOK_AHEAD)
  return isOpen ? { start: last, from: last, until: next } : { start: null, from: now, until: next }

  /** The last start up to now, if it is after `since`. Otherwise `since` or an earlier start. */
  function lastStart(earliest: number, since: number): number {
    let found = earliest
    let stopAt = Number.NEGATIVE_INFINITY
    const from = clock.timeAt(since) - clock.slackAt(since)
    for (const time of schedule.backward(clock.timeAt(now) + clock.slackAt(now), from)) {
      // Near a clock change, an earlier time may be a later moment.
      if (time < stopAt) break
      const moment = clock.momentOf(time)
      if (moment > now) continue
      if (stopAt === Number.NEGATIVE_INFINITY) stopAt = time - clock.slackAt(moment)
      found = Math.max(found, moment)
    }
    return found
  }

  /** The first start after now, if it is before `limit`. Otherwise `limit`, or Infinity if there is no further start. */
  function nextStart(limit: number): number {
    let found = limit
    let stopAt = Number.POSITIVE_INFINITY
    const from = clock.timeAt(now) - clock.slackAt(now)
    if (from > schedule.last && !isOpen) return Number.POSITIVE_INFINITY
    for (const time of schedule.forward(from, clock.timeAt(limit) + clock.slackAt(limit))) {
      if (time > stopAt) break
      const moment = clock.momentOf(time)
      if (moment <= now) continue
      if (stopAt === Number.POSITIVE_INFINITY) stopAt = time + clock.slackAt(moment)
      found = Math.min(found, moment)
    }
    return found
  }
}

function duration(milliseconds: number): string {
  const units = [
    [DAY, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
  ] as const
  const [size, name] = units.find(([unit]) => milliseconds >= 2 * unit && milliseconds % unit === 0) ?? [
    1_000,
    'seconds',
  ]
  return `${Math.round((milliseconds / size) * 10) / 10} ${name}`
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
