import { counted } from '../../components/counted.ts'
import type { StoredTimes } from '../freezes/freeze-times.ts'
import { clockTimeAt } from '../freezes/zones.ts'
import type { Rules } from './rules-draft.ts'

const HOUR_SECONDS = 3_600
const DAY_HOURS = 24

/** The rules of an environment, a sentence for each. `nameOf` gives the name of an environment. */
export function ruleSentences(rules: Rules | null, nameOf: (id: string) => string): string[] {
  const { approvals, windows = [], promotion } = rules ?? {}
  return [
    ...(approvals === undefined ? [] : [approvalWords(approvals)]),
    ...(windows.length === 0 ? [] : [`Starts only ${windows.map(windowWords).join('; or ')}`]),
    ...(promotion === undefined ? [] : [promotionWords(promotion, nameOf)]),
  ]
}

function approvalWords({ count, role, allow_author, expires_in_seconds }: NonNullable<Rules['approvals']>): string {
  const who = role === null ? '' : ` of the role ${role}`
  const author = allow_author ? ', also of the author' : ''
  return `Needs ${counted(count, 'approval')}${who}${author}, within ${hoursWords(expires_in_seconds / HOUR_SECONDS)}`
}

function promotionWords(
  { from_environment_id, hours }: NonNullable<Rules['promotion']>,
  nameOf: (id: string) => string,
) {
  const time = hours === 0 ? '' : ` for ${hoursWords(hours)}`
  return `Takes only versions that are in force in ${nameOf(from_environment_id)}${time}`
}

function hoursWords(hours: number): string {
  if (hours < 1) return counted(Math.round(hours * 60), 'minute')
  if (hours % DAY_HOURS === 0) return counted(hours / DAY_HOURS, 'day')
  return counted(Math.round(hours * 10) / 10, 'hour')
}

const DAYS: Record<string, string> = { MO: 'Mon', TU: 'Tue', WE: 'Wed', TH: 'Thu', FR: 'Fri', SA: 'Sat', SU: 'Sun' }

const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', hour: '2-digit', minute: '2-digit' })
const date = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' })

/** A window in its own time zone, such as "Mon, Tue 09:00–16:00 (Europe/Zurich)". */
export function windowWords({ start_time, end_time, recurrence = null, time_zone = null }: StoredTimes): string {
  const zone = time_zone ?? 'UTC'
  const [start, end] = [start_time, end_time].map((time) => clockTimeAt(zone, Date.parse(time))) as [number, number]
  const isOneDay = end - start <= DAY_HOURS * HOUR_SECONDS * 1_000
  const days = recurrence === null ? null : daysOf(recurrence)
  if (days !== null && isOneDay) return `${days} ${clock.format(start)}–${clock.format(end)} (${zone})`
  const first = `${date.format(start)} ${clock.format(start)} – ${date.format(end)} ${clock.format(end)} (${zone})`
  return recurrence === null ? first : `${first}, repeated ${recurrence}`
}

/** The days of a simple recurrence in words; null: it is not simple. */
function daysOf(recurrence: string): string | null {
  const rule = recurrence.toUpperCase()
  if (rule === 'FREQ=DAILY') return 'every day'
  const [, list] = /^FREQ=WEEKLY;BYDAY=([A-Z,]+)$/.exec(rule) ?? []
  const days = list?.split(',').map((day) => DAYS[day])
  return days?.every((day) => day !== undefined) ? days.join(', ') : null
}
