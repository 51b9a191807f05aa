import { pageOf, parsePage } from '@slipway/domain'
import type { Answer } from '../http/handler.ts'

export interface Slice {
  skip: number
  take: number
}

/** Answers one page of a list in the common envelope, with the exact total. */
export async function answerPage<T>(
  query: { page?: string; limit?: string },
  count: () => Promise<number>,
  find: (slice: Slice) => Promise<T[]>,
): Promise<Answer> {
  const page = parsePage(query)
  const total = await count()
  // Also keeps offsets that no list reaches away from the database.
  const data = page.offset < total ? await find({ skip: page.offset, take: page.limit }) : []
  return { status: 200, body: { data, meta: pageOf(page, total) } }
}

/** A page of rows with the total of the list they are from. */
export interface PageRows<Row> {
  total: number
  rows: Row[]
}

/** Answers one page that was read in one round trip. `read` gets an offset that may be beyond the end of the list. */
export async function answerPageOf<Row>(
  query: { page?: string; limit?: string },
  read: (slice: Slice) => Promise<PageRows<Row>>,
  shown: (row: Row) => unknown,
): Promise<Answer> {
  const page = parsePage(query)
  const { total, rows } = await read({ skip: page.offset, take: page.limit })
  return { status: 200, body: { data: rows.map(shown), meta: pageOf(page, total) } }
}

/** Newest first, as every list of records. */
export const NEWEST_FIRST: ({ created_at: 'desc' } | { id: 'desc' })[] = [{ created_at: 'desc' }, { id: 'desc' }]

/** Text in which LIKE finds nothing but itself. */
export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** The pattern with which ILIKE finds names that contain the text; null: every name. */
export const containsPattern = (search: string | undefined) => (search === undefined ? null : `%${escapeLike(search)}%`)

/** Condition on `name`: a substring without regard to case. */
export const nameContains = (search: string | undefined) =>
  search === undefined ? {} : { name: { contains: escapeLike(search), mode: 'insensitive' as const } }
