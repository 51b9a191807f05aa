/**
 * Firefox draws no element that is higher than 17.9 million pixels, Chromium none above 33.5 million pixels of the screen,
 * of which a page has two or three in one of its own. A longer log is shown in parts of this many lines.
 */
export const PART = 400_000
/** Wrapped lines differ in height: each that is measured moves all that follow it in its part. */
export const WRAPPED_PART = 20_000

interface RowPlace {
  row: number
  /** The first row of its part. */
  part: number
}

/** What the view of a log shows: its end, also while lines are added, or a row. */
export type LogPlace = 'end' | RowPlace

/** The first row of the last part of a log with this number of rows. Parts begin at multiples of half their size, so they overlap. */
export const lastPart = (count: number, size = PART) => Math.max(0, Math.ceil((count - size) / (size / 2)) * (size / 2))

/** A row, in the part that has the most rows on both sides of it. */
export const placeAt = (row: number, count: number, size = PART): RowPlace => ({
  row,
  part: Math.min(Math.max(0, Math.round(row / (size / 2)) - 1) * (size / 2), lastPart(count, size)),
})
