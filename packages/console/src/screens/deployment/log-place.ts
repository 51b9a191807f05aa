/**
 * Firefox draws no element that is higher than 17.9 million pixels, Chromium none above 33.5 million pixels of the screen,
 * of which a page has two or three in one of its own. A longer log is shown in parts of this many lines.
 */
export const PART = 400_000
/** Parts begin at multiples of this number, so they overlap. */
const STEP = PART / 2

interface RowPlace {
  row: number
  /** The first row of its part. */
  part: number
}

/** What the view of a log shows: its end, also while lines are added, or a row. */
export type LogPlace = 'end' | RowPlace

/** The first row of the last part of a log with this number of rows. */
export const lastPart = (count: number) => Math.max(0, Math.ceil((count - PART) / STEP) * STEP)

/** A row, in the part that has the most rows on both sides of it. */
export const placeAt = (row: number, count: number): RowPlace => ({
  row,
  part: Math.min(Math.max(0, Math.round(row / STEP) - 1) * STEP, lastPart(count)),
})
