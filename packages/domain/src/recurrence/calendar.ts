/** A constant: in a test context, a lookup of the global takes ten times as long as the division. */
const { floor } = Math

export const HOUR = 60 * 60_000
export const DAY = 24 * HOUR

/** A day of the Gregorian calendar. */
interface CalendarDate {
  year: number
  /** 1 to 12. */
  month: number
  /** 1 to 31. */
  day: number
}

/** The number of the day that contains this time. Day 0 is 1970-01-01. */
export const dayOf = (time: number): number => floor(time / DAY)

// The usual algorithms on eras of 400 years. A Date object for each day takes ten times as long.

export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + floor(yearOfEra / 4) - floor(yearOfEra / 100) + dayOfYear - 719_468
}

export function dateOf(number: number): CalendarDate {
  const shifted = number + 719_468
  const era = floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = floor(
    (dayOfEra - floor(dayOfEra / 1_460) + floor(dayOfEra / 36_524) - floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + floor(yearOfEra / 4) - floor(yearOfEra / 100))
  const shiftedMonth = floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const day = dayOfYear - floor((153 * shiftedMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

/** Monday is 0. */
export const weekdayOf = (number: number): number => modulo(number + 3, 7)

export const daysInMonth = ({ year, month }: CalendarDate): number =>
  month === 12 ? 31 : dayNumber(year, month + 1, 1) - dayNumber(year, month, 1)

export const daysInYear = (year: number): number => dayNumber(year + 1, 1, 1) - dayNumber(year, 1, 1)

/** The first day of the week that contains this day. Weeks begin on `weekStart`. */
export const startOfWeek = (number: number, weekStart: number): number =>
  number - modulo(weekdayOf(number) - weekStart, 7)

/** The first day of week 1: the first week with at least four days in the year. */
export const startOfWeekYear = (year: number, weekStart: number): number =>
  startOfWeek(dayNumber(year, 1, 4), weekStart)

/** The year that contains most days of the week of this day. */
export const weekYearOf = (number: number, weekStart: number): number => dateOf(startOfWeek(number, weekStart) + 3).year

/** The remainder of a division, never negative. */
export const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor
