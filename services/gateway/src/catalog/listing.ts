import { pageOf, parsePage } from '@slipway/domain'
import type { Answer } from '../http/handler.ts'

export type Page = ReturnType<typeof parsePage>

export interface Slice {
  skip: number
  take: number
}

export async function answerPage<T>(
  query: { page?: string; limit?: string },
  count: () => Promise<number>,
  find: (slice: Slice) => Promise<T[]>,
): Promise<Answer> {
  const page = parsePage(query)
  const total = await count()
  // No query for an offset beyond the end: Postgres would read all rows.
  const data = page.offset < total ? await find({ skip: page.offset, take: page.limit }) : []
  return { status: 200, body: { data, meta: pageOf(page, total) } }
}

export interface PageRows<Row> {
  total: number
  rows: Row[]
}

/** Answers a page that `read` reads together with the total. The offset may be beyond the end of the list. */
export async function answerPageOf<Row>(
  query: { page?: string; limit?: string },
  read: (slice: Slice) => Promise<PageRows<Row>>,
  shown: (row: Row) => unknown,
): Promise<Answer> {
  const page = parsePage(query)
  const { total, rows } = await read({ skip: page.offset, take: page.limit })
  return { status: 200, body: { data: rows.map(shown), meta: pageOf(page, total) } }
}

/** Answers a page that Postgres writes as JSON together with the total. Without `read` no row matches. */
export async function answerJsonPage(
  query: { page?: string; limit?: string },
  read: ((slice: Slice) => Promise<JsonPage>) | null,
): Promise<Answer> {
  const page = parsePage(query)
  return jsonPage(page, read === null ? EMPTY : await read({ skip: page.offset, take: page.limit }))
}

export interface JsonPage {
  total: number
  /** A JSON array. */
  data: string
}

export const EMPTY: JsonPage = { total: 0, data: '[]' }

export const jsonPage = (page: Page, { total, data }: JsonPage): Answer => ({
  status: 200,
  json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}`,
})

export const NEWEST_FIRST: ({ created_at: 'desc' } | { id: 'desc' })[] = [{ created_at: 'desc' }, { id: 'desc' }]

/** Makes LIKE match the text literally. */
export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** The ILIKE pattern for names that contain the text; null matches every name. */
export const containsPattern = (search: string | undefined) => (search === undefined ? null : `%${escapeLike(search)}%`)

/** For Prisma: records of a file set. */
export const managedBy = (managed_by: string | undefined) => (managed_by === undefined ? {} : { managed_by })

/** For Prisma: names that contain the text, in any case. */
export const nameContains = (search: string | undefined) =>
  search === undefined ? {} : { name: { contains: escapeLike(search), mode: 'insensitive' as const } }
