const SECOND = 1_000
const DAY = 24 * 60 * 60 * SECOND

/** How the clocks of a place go. Moments are milliseconds of UTC, times what a clock there shows, as if it were UTC. */
export interface LocalClock {
  timeAt(moment: number): number
  /** The first moment at which clocks show this time; for one that they leap over, as if they had not leapt yet. */
  momentOf(time: number): number
  /** How far apart the differences of two times and of their moments can be. */
  slack: number
}

/** Clocks that are always so far ahead of UTC. */
export function fixedClock(ahead: number): LocalClock {
  return { timeAt: (moment) => moment + ahead, momentOf: (time) => time - ahead, slack: 0 }
}

/** Clocks of a zone of the IANA database, summer time and all. */
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
    // A zone that moves over the date line leaps by a day.
    slack: 26 * 60 * 60 * SECOND,
  }
}

/** Whether it is a name as `Europe/Berlin`; what is only an offset is not. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/.test(text) || text.length > 64) return false
  try {
    formatterOf(text)
    return true
  } catch {
    return false
  }
}

/** One for each zone that there is, in whatever case it is written. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase()
  const known = formatters.get(name)
  if (known !== undefined) return known
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  formatters.set(name, formatter)
  return formatter
}

function offsetAt(timeZone: string, moment: number): number {
  const name = formatterOf(timeZone)
    .formatToParts(moment)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name ?? '') ?? []
  const ahead = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * SECOND
  return sign === '-' ? -ahead : ahead
}
