import { type FieldError, validationProblem } from './problem.ts'

const DEFAULT_PAGE_LIMIT = 50
const MAX_PAGE_LIMIT = 100
/** Longer than any list. Keeps `offset` exact as a double and within a Postgres bigint. */
const MAX_PAGE = 2 ** 40

export interface Page {
  page: number
  limit: number
  offset: number
}

export interface PageMeta {
  total: number
  page: number
  limit: number
  total_pages: number
  has_next: boolean
  has_prev: boolean
}

/**
 * Reads `page` and `limit` of a query. Moves numbers into their range and refuses everything else.
 * @throws Problem VALIDATION_ERROR
 */
export function parsePage(raw: { page?: unknown; limit?: unknown }): Page {
  const errors: FieldError[] = []
  const page = Math.min(Math.max(wholeNumber('page', raw.page, 1, errors), 1), MAX_PAGE)
  const limit = Math.min(Math.max(wholeNumber('limit', raw.limit, DEFAULT_PAGE_LIMIT, errors), 1), MAX_PAGE_LIMIT)
  if (errors.length > 0) throw validationProblem(errors)
  return { page, limit, offset: (page - 1) * limit }
}

/** The `meta` object of a list's answer. */
export function pageOf({ page, limit }: { page: number; limit: number }, total: number): PageMeta {
  const totalPages = Math.ceil(total / limit)
  return { total, page, limit, total_pages: totalPages, has_next: page < totalPages, has_prev: page > 1 }
}

function wholeNumber(name: string, value: unknown, fallback: number, errors: FieldError[]): number {
  if (value === undefined) return fallback
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value)
  errors.push({ path: `query/${name}`, message: 'must be one whole number' })
  return fallback
}
