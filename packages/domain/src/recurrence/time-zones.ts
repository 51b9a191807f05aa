import { DAY } from './schedule.ts'

/** The clocks of a time zone. Moments are milliseconds of UTC; times are local times as if they were UTC. */
export interface LocalClock {
  timeAt(moment: number): number
  /** The first moment with this local time. A time that clocks skip is read with the offset from before the change. */
  momentOf(time: number): number
}

/** Clocks that are always this far ahead of UTC. */
export function fixedClock(ahead: number): LocalClock {
  return { timeAt: (moment) => moment + ahead, momentOf: (time) => time - ahead }
}

/** The clocks of a zone of the IANA database, with daylight saving time. */
export function zoneClock(timeZone: string): LocalClock {
  const ahead = (moment: number) => offsetAt(timeZone, moment)
  return {
    timeAt: (moment) => moment + ahead(moment),
    momentOf(time) {
      // Clocks change at most once between the day before and the day after, so one of these two offsets is right.
      const [before, after] = [ahead(time - DAY), ahead(time + DAY)]
      const moments = [before, after].map((offset) => time - offset).filter((moment) => moment + ahead(moment) === time)
      return moments.length === 0 ? time - before : Math.min(...moments)
    },
  }
}

/** Whether the text is a name such as `Europe/Berlin`. A mere offset is not. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/.test(text) || text.length > 64) return false
  try {
    zoneNamed(text)
    return true
  } catch {
    return false
  }
}

interface Zone {
  format: Intl.DateTimeFormat
  /** Offset at the beginning of each week. */
  weeks: Map<number, number>
}

/** By name in lower case, because names are case-insensitive. */
const zones = new Map<string, Zone>()
const WEEK = 7 * DAY
const MAX_WEEKS = 1_000

function zoneNamed(timeZone: string): Zone {
  const name = timeZone.toLowerCase()
  const known = zones.get(name)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const zone = { format, weeks: new Map<number, number>() }
  zones.set(name, zone)
  return zone
}

/**
 * Intl takes 5 µs for an offset. No zone changes its clocks twice in a week, so equal offsets at both ends hold for the whole
 * week.
 */
function offsetAt(timeZone: string, moment: number): number {
  const zone = zoneNamed(timeZone)
  const week = Math.floor(moment / WEEK)
  const offset = offsetOfWeek(zone, week)
  return offset === offsetOfWeek(zone, week + 1) ? offset : exactOffset(zone, moment)
}

function offsetOfWeek(zone: Zone, week: number): number {
  const known = zone.weeks.get(week)
  if (known !== undefined) return known
  const offset = exactOffset(zone, week * WEEK)
  if (zone.weeks.size >= MAX_WEEKS) zone.weeks.clear()
  zone.weeks.set(week, offset)
  return offset
}

function exactOffset({ format }: Zone, moment: number): number {
  const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name ?? '') ?? []
  const ahead = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === '-' ? -ahead : ahead
}
