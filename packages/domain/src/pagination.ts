import { type Cursor, type ListOrder, readCursor, writeCursor } from './list-order.ts'
import { type FieldError, validationProblem } from './problem.ts'

const DEFAULT_PAGE_LIMIT = 50
const MAX_PAGE_LIMIT = 100
/** Longer than any list. Keeps `offset` exact as a double and within a Postgres bigint. */
const MAX_PAGE = 2 ** 40

export interface Page {
  page: number
  limit: number
  offset: number
  /** Null: the page has a number. */
  cursor: Cursor | null
}

export interface PageMeta {
  total: number
  page: number
  limit: number
  total_pages: number
  has_next: boolean
  has_prev: boolean
  /** Only in the answer to a cursor. Null: nothing follows. */
  next_cursor?: string | null
}

/**
 * Reads `page`, `limit` and `cursor` of a query. Moves numbers into their range and refuses everything else.
 * @throws Problem VALIDATION_ERROR
 */
export function parsePage(
  raw: { page?: unknown; limit?: unknown; cursor?: string | undefined },
  order: Omit<ListOrder<never>, 'keyOf'>,
): Page {
  const errors: FieldError[] = []
  const cursor = raw.cursor === undefined ? null : readCursor(order, raw.cursor)
  if (raw.cursor !== undefined && raw.page !== undefined) {
    errors.push({ path: 'query/cursor', message: 'stands in place of page: leave one of them out' })
  } else if (raw.cursor !== undefined && cursor === null) {
    const message = 'is no cursor of this list: begin with `start`, and then give meta.next_cursor of the last answer'
    errors.push({ path: 'query/cursor', message })
  }
  const page = Math.min(Math.max(wholeNumber('page', raw.page, 1, errors), 1), MAX_PAGE)
  const limit = Math.min(Math.max(wholeNumber('limit', raw.limit, DEFAULT_PAGE_LIMIT, errors), 1), MAX_PAGE_LIMIT)
  if (errors.length > 0) throw validationProblem(errors)
  if (cursor !== null) return { page: cursor.page, limit, offset: 0, cursor }
  return { page, limit, offset: (page - 1) * limit, cursor }
}

/** The `meta` object of a list's answer. */
export function pageOf({ page, limit }: Pick<Page, 'page' | 'limit'>, total: number): PageMeta {
  const totalPages = Math.ceil(total / limit)
  return { total, page, limit, total_pages: totalPages, has_next: page < totalPages, has_prev: page > 1 }
}

/** The rows of a page with a cursor, and its `meta` object. `rows` has one row more than the page if a page follows. */
export function cursorPageOf<Row>(
  { page, limit }: Pick<Page, 'page' | 'limit'>,
  { list, keyOf }: ListOrder<Row>,
  { total, rows }: { total: number; rows: readonly Row[] },
): { rows: readonly Row[]; meta: PageMeta } {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const has_next = rows.length > limit && last !== undefined
  const next_cursor = has_next ? writeCursor(list, page + 1, keyOf(last)) : null
  return { rows: kept, meta: { ...pageOf({ page, limit }, total), has_next, next_cursor } }
}

function wholeNumber(name: string, value: unknown, fallback: number, errors: FieldError[]): number {
  if (value === undefined) return fallback
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value)
  errors.push({ path: `query/${name}`, message: 'must be one whole number' })
  return fallback
}
