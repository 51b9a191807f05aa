import { DAY, HOUR } from './calendar.ts'

/** The clocks of a place. Moments are milliseconds of UTC; times are what a clock there shows, as if it were UTC. */
export interface LocalClock {
  timeAt(moment: number): number
  /** The first moment at which clocks show this time. A time that they leap over is read as if they had not leapt yet. */
  momentOf(time: number): number
  /**
   * How far apart two times near this moment can be and still come in the other order as moments: 0 unless clocks change
   * about then.
   */
  slackAt(moment: number): number
}

/** Clocks that are always this far ahead of UTC. */
export function fixedClock(ahead: number): LocalClock {
  return { timeAt: (moment) => moment + ahead, momentOf: (time) => time - ahead, slackAt: () => 0 }
}

/** A zone that moves over the date line leaps by 24 h. */
const LONGEST_LEAP = 27 * HOUR

/** Clocks of a zone of the IANA database, with its summer time. */
export function zoneClock(timeZone: string): LocalClock {
  const ahead = (moment: number) => offsetAt(timeZone, moment)
  return {
    timeAt: (moment) => moment + ahead(moment),
    momentOf(time) {
      // Clocks change at most once between a day before and a day after: one of these two offsets holds.
      const [before, after] = [ahead(time - DAY), ahead(time + DAY)]
      const moments = [before, after].map((offset) => time - offset).filter((moment) => moment + ahead(moment) === time)
      return moments.length === 0 ? time - before : Math.min(...moments)
    },
    slackAt(moment) {
      const around = [moment - LONGEST_LEAP, moment, moment + LONGEST_LEAP].map(ahead)
      return Math.max(...around) - Math.min(...around)
    },
  }
}

/** Whether it is a name as `Europe/Berlin`; what is only an offset is not. */
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
  /** Offsets at the beginning of weeks. */
  weeks: Map<number, number>
}

/** By name in lower case: names are valid in any case. */
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

/** Intl takes 5 µs for an offset. No zone changes its clocks twice in a week, so most weeks need no look inside. */
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
