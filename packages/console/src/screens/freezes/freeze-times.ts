import type { Item, Schema } from '@slipway/client'
import { BROWSER_ZONE, clockTimeAt, momentOf } from './zones.ts'

const HOUR_MS = 3_600_000
const TWO_DAYS_MS = 48 * HOUR_MS

/** The value of a datetime-local input: what a clock of the zone shows. */
const inputOf = (zone: string, moment: number) => new Date(clockTimeAt(zone, moment)).toISOString().slice(0, 16)
const timestampOf = (zone: string, input: string) => new Date(momentOf(zone, Date.parse(`${input}Z`))).toISOString()

/** The times of a form. Without a zone, the inputs show UTC. */
export interface Times {
  start: string
  end: string
  zone: string | null
  recurrence: string
}

/** A freeze, or a window of an environment. */
export type StoredTimes = TimeFields | Item<'listFreezes'>

export function timesOf(freeze: StoredTimes | null): Times {
  const nextHour = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const zone = freeze === null ? BROWSER_ZONE : (freeze.time_zone ?? null)
  const start = freeze === null ? nextHour : Date.parse(freeze.start_time)
  const end = freeze === null ? nextHour + TWO_DAYS_MS : Date.parse(freeze.end_time)
  return {
    start: inputOf(zone ?? 'UTC', start),
    end: inputOf(zone ?? 'UTC', end),
    zone,
    recurrence: freeze?.recurrence ?? '',
  }
}

type TimeFields = Pick<Schema<'CreateFreeze'>, 'start_time' | 'end_time' | 'recurrence' | 'time_zone'>

/** The fields of a new freeze. */
export const timeFields = ({ start, end, zone, recurrence }: Times): TimeFields => ({
  start_time: timestampOf(zone ?? 'UTC', start),
  end_time: timestampOf(zone ?? 'UTC', end),
  recurrence: recurrence.trim() || null,
  time_zone: zone,
})

/** Leaves unchanged times out: a new start_time would change the offset in which a recurrence without a zone counts. */
export function changedTimeFields(times: Times, changed: Partial<Times>): Partial<TimeFields> {
  const { start_time, end_time, recurrence = null, time_zone = null } = timeFields(times)
  const isMoved = 'zone' in changed
  return {
    ...('recurrence' in changed ? { recurrence } : {}),
    ...(isMoved ? { time_zone } : {}),
    ...(isMoved || 'start' in changed ? { start_time } : {}),
    ...(isMoved || 'end' in changed ? { end_time } : {}),
  }
}
