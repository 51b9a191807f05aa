import { isUuid } from './sqid.ts'

/** The values by which a list is ordered, of one row. */
export type SortKey = readonly string[]

const isTime = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text))

const KINDS = {
  time: isTime,
  /** A time, or none. */
  'maybe-time': (text: string) => text === NO_TIME || isTime(text),
  uuid: isUuid,
  /** A whole number that fits int4, or none. */
  'maybe-integer': (text: string) => text === NO_INTEGER || /^-?\d{1,9}$/.test(text),
  text: (text: string) => !text.includes('\0'),
} satisfies Record<string, (text: string) => boolean>

/** Postgres reads it as the time before all others. */
export const NO_TIME = '-infinity'

/** It stands in a cursor for a row without the number. */
export const NO_INTEGER = 'none'

/** How a list is ordered. No two rows have the same key. */
export interface ListOrder<Row> {
  /** Names the list: a cursor of another one is refused. */
  list: string
  kinds: readonly (keyof typeof KINDS)[]
  keyOf(row: Row): SortKey
}

/** Where a walk through a list goes on: after this row; null: at the beginning. */
export interface Cursor {
  /** The number of the next page, from 1. */
  page: number
  after: SortKey | null
}

export const START = 'start'

export const writeCursor = (list: string, page: number, after: SortKey): string =>
  Buffer.from(JSON.stringify([list, page, ...after])).toString('base64url')

/** Returns null if the text is no cursor of this list. */
export function readCursor({ list, kinds }: Omit<ListOrder<never>, 'keyOf'>, text: string): Cursor | null {
  if (text === START) return { page: 1, after: null }
  const parts = parseParts(text)
  if (parts === null || parts.length !== kinds.length + 2) return null
  const [name, page, ...values] = parts
  const after = values.filter((value) => typeof value === 'string')
  const isKey = after.length === kinds.length && kinds.every((kind, index) => KINDS[kind](after[index] ?? ''))
  if (name !== list || typeof page !== 'number' || !Number.isSafeInteger(page) || page < 2 || !isKey) return null
  return { page, after }
}

function parseParts(text: string): unknown[] | null {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : null
  } catch {
    return null
  }
}
