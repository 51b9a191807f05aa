import type { Item } from '@slipway/client'
import { clockTimeAt, momentOf } from './zones.ts'

type Freeze = Item<'listFreezes'>

/** Milliseconds since 1970. */
export interface Window {
  start: number
  end: number
}

interface SimpleRule {
  isWeekly: boolean
  interval: number
  count: number
  /** On the clock of the zone, as if it were UTC. */
  until: number
  /** Monday is 0. Null for the weekday of the start, or for every day. */
  weekdays: number[] | null
  weekStart: number
}

const DAY_MS = 86_400_000
const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const PART = /^(FREQ=(DAILY|WEEKLY)|INTERVAL=\d+|COUNT=\d+|UNTIL=[0-9TZ]+|WKST=[A-Z]{2}|BYDAY=[A-Z]{2}(,[A-Z]{2})*)$/

const weekdayOf = (day: number) => (((day + 3) % 7) + 7) % 7

/**
 * The windows of a freeze that overlap this time. Null when the browser cannot compute them: the rule is neither a simple
 * daily nor a simple weekly one, or it counts in a fixed offset, which the API does not return.
 */
export function windowsBetween(freeze: Freeze, from: number, to: number): Window[] | null {
  const first = { start: Date.parse(freeze.start_time), end: Date.parse(freeze.end_time) }
  const overlaps = ({ start, end }: Window) => start < to && end > from
  if (freeze.recurrence === null) return [first].filter(overlaps)
  const zone = freeze.time_zone ?? 'UTC'
  const rule = parseRule(freeze.recurrence, zone)
  const dependsOnZone = /BYDAY|UNTIL/i.test(freeze.recurrence)
  if (rule === null || (freeze.time_zone === null && dependsOnZone)) return null

  const length = first.end - first.start
  const windows = new Map([[first.start, first]])
  const clockTimes = startsOf(rule, clockTimeAt(zone, first.start), clockTimeAt(zone, to) + DAY_MS)
  for (const clockTime of clockTimes) {
    if (clockTime + length < from - 2 * DAY_MS) continue
    const start = momentOf(zone, clockTime)
    windows.set(start, { start, end: start + length })
  }
  return [...windows.values()].filter(overlaps).sort((a, b) => a.start - b.start)
}

/** How far ahead the next window is looked for. */
const LOOK_AHEAD_MS = 400 * DAY_MS

/** The first window that begins after `now`; null when there is none. Undefined when the browser cannot compute it. */
export function nextWindow(freeze: Freeze, now: number): Window | null | undefined {
  const windows = windowsBetween(freeze, now, now + LOOK_AHEAD_MS)
  return windows === null ? undefined : (windows.find(({ start }) => start > now) ?? null)
}

function parseRule(text: string, zone: string): SimpleRule | null {
  const parts = text.toUpperCase().split(';')
  if (!parts.every((part) => PART.test(part))) return null
  const values = new Map(parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
  const until = values.get('UNTIL')
  return {
    isWeekly: values.get('FREQ') === 'WEEKLY',
    interval: Number(values.get('INTERVAL') ?? 1),
    count: Number(values.get('COUNT') ?? Number.POSITIVE_INFINITY),
    until: until === undefined ? Number.POSITIVE_INFINITY : untilOf(until, zone),
    weekdays:
      values
        .get('BYDAY')
        ?.split(',')
        .map((day) => WEEKDAYS.indexOf(day)) ?? null,
    weekStart: WEEKDAYS.indexOf(values.get('WKST') ?? 'MO'),
  }
}

/** A date lasts to its end. */
function untilOf(text: string, zone: string): number {
  const [, year, month, day, hour = '23', minute = '59', second = '59', utc] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(text) ?? []
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return utc ? clockTimeAt(zone, time) : time
}

/** The starts of the rule on the clock of its zone, up to `to`. */
function* startsOf(rule: SimpleRule, first: number, to: number): Generator<number> {
  const firstDay = Math.floor(first / DAY_MS)
  const weekOf = (day: number) => (day - ((weekdayOf(day) - rule.weekStart + 7) % 7)) / 7
  const weekdays = rule.weekdays ?? (rule.isWeekly ? [weekdayOf(firstDay)] : null)
  let left = rule.count
  for (let time = first; time <= Math.min(to, rule.until) && left > 0; time += DAY_MS) {
    const day = Math.floor(time / DAY_MS)
    const periods = rule.isWeekly ? Math.round(weekOf(day) - weekOf(firstDay)) : day - firstDay
    if (periods % rule.interval !== 0 || (weekdays !== null && !weekdays.includes(weekdayOf(day)))) continue
    left -= 1
    yield time
  }
}
