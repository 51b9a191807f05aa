import type { Item, Schema } from '@slipway/client'
import { useState } from 'react'
import { BROWSER_ZONE, clockTimeAt, momentOf } from './zones.ts'

const HOUR_MS = 3_600_000
const TWO_DAYS_MS = 48 * HOUR_MS

/** The value of a datetime-local input: what a clock of the zone shows. */
const inputOf = (zone: string, moment: number) => new Date(clockTimeAt(zone, moment)).toISOString().slice(0, 16)
const timestampOf = (zone: string, input: string) => new Date(momentOf(zone, Date.parse(`${input}Z`))).toISOString()

function initialTimes(freeze: Item<'listFreezes'> | null) {
  const nextHour = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const zone = freeze === null ? BROWSER_ZONE : freeze.time_zone
  const start = freeze === null ? nextHour : Date.parse(freeze.start_time)
  const end = freeze === null ? nextHour + TWO_DAYS_MS : Date.parse(freeze.end_time)
  return {
    start: inputOf(zone ?? 'UTC', start),
    end: inputOf(zone ?? 'UTC', end),
    zone,
    recurrence: freeze?.recurrence ?? '',
  }
}

type Times = ReturnType<typeof initialTimes>
type TimeFields = Pick<Schema<'CreateFreeze'>, 'start_time' | 'end_time' | 'recurrence' | 'time_zone'>

/** Start, end, zone and recurrence of a form. Without a zone, the inputs show UTC. */
export function useFreezeTimes(freeze: Item<'listFreezes'> | null) {
  const [initial] = useState(() => initialTimes(freeze))
  const [times, setTimes] = useState(initial)
  const change = (changed: Partial<Times>) => setTimes((known) => ({ ...known, ...changed }))

  const fields = (): TimeFields => ({
    start_time: timestampOf(times.zone ?? 'UTC', times.start),
    end_time: timestampOf(times.zone ?? 'UTC', times.end),
    recurrence: times.recurrence.trim() || null,
    time_zone: times.zone,
  })
  /** Leaves unchanged times out: a new start_time would change the offset in which a recurrence without a zone counts. */
  const changedFields = (): Partial<TimeFields> => {
    const { start_time, end_time, recurrence, time_zone } = fields()
    const isMoved = times.zone !== initial.zone
    return {
      recurrence: recurrence ?? null,
      ...(isMoved ? { time_zone: time_zone ?? null } : {}),
      ...(isMoved || times.start !== initial.start ? { start_time } : {}),
      ...(isMoved || times.end !== initial.end ? { end_time } : {}),
    }
  }
  return { times, change, fields, changedFields }
}
