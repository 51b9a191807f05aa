import {
  cursorPageOf,
  type ListOrder,
  nameKey,
  type Page,
  pageOf,
  parsePage,
  type SortKey,
  validationProblem,
} from '@slipway/domain'
import type { Answer } from '@slipway/http'

export interface PageQuery {
  page?: string
  limit?: string
  cursor?: string
}

export interface Slice {
  skip: number
  take: number
  /** The rows after this key; null: all rows. */
  after: SortKey | null
}

/** With a cursor, one row more than the page tells whether a page follows. */
export const sliceOf = ({ limit, offset, cursor }: Page): Slice =>
  cursor === null ? { skip: offset, take: limit, after: null } : { skip: 0, take: limit + 1, after: cursor.after }

export interface PageRows<Row> {
  total: number
  rows: readonly Row[]
}

/** The rows of the slice that the page shows, and its `meta` object. */
export const toPage = <Row>(page: Page, order: ListOrder<Row>, found: PageRows<Row>) =>
  page.cursor === null ? { rows: found.rows, meta: pageOf(page, found.total) } : cursorPageOf(page, order, found)

type Show<Row> = (rows: readonly Row[]) => readonly unknown[] | Promise<readonly unknown[]>

/** Answers a page. The sort key is read from the rows as `find` returns them, and `show` makes the entries of the answer. */
export async function answerPage<Row>(
  query: PageQuery,
  order: ListOrder<NoInfer<Row>>,
  count: () => Promise<number>,
  find: (slice: Slice) => Promise<readonly Row[]>,
  show: Show<Row> = (rows) => rows,
): Promise<Answer> {
  const read = async (slice: Slice) => {
    const total = await count()
    // No query for an offset beyond the end: Postgres would read all rows.
    return { total, rows: slice.skip < total || slice.skip === 0 ? await find(slice) : [] }
  }
  return answerPageOf(query, order, read, show)
}

/** Answers a page that `read` reads together with the total. The offset may be beyond the end of the list. */
export async function answerPageOf<Row>(
  query: PageQuery,
  order: ListOrder<NoInfer<Row>>,
  read: (slice: Slice) => Promise<PageRows<Row>>,
  show: Show<Row> = (rows) => rows,
): Promise<Answer> {
  const page = parsePage(query, order)
  const { rows, meta } = toPage(page, order, await read(sliceOf(page)))
  return { status: 200, body: { data: await show(rows), meta } }
}

/** Answers a page that Postgres writes as JSON together with the total. Without `read` no row matches. */
export async function answerJsonPage<Row>(
  query: PageQuery,
  order: ListOrder<Row>,
  read: ((slice: Slice) => Promise<JsonPage>) | null,
): Promise<Answer> {
  const page = parsePage(query, order)
  return jsonPage(page, order, read === null ? EMPTY : await read(sliceOf(page)))
}

export interface JsonPage {
  total: number
  /** A JSON array. */
  data: string
}

export const EMPTY: JsonPage = { total: 0, data: '[]' }

export function jsonPage<Row>(page: Page, order: ListOrder<Row>, { total, data }: JsonPage): Answer {
  if (page.cursor === null)
    return { status: 200, json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}` }
  const { rows, meta } = cursorPageOf(page, order, { total, rows: JSON.parse(data) as Row[] })
  return { status: 200, body: { data: rows, meta } }
}

/** The order of most lists. `list` names the list in its cursors. */
export const newestOrder = (list: string): ListOrder<{ id: string; created_at: Date | string }> => ({
  list,
  kinds: ['time', 'uuid'],
  keyOf: ({ created_at, id }) => [new Date(created_at).toISOString(), id],
})

export const NEWEST_FIRST: ({ created_at: 'desc' } | { id: 'desc' })[] = [{ created_at: 'desc' }, { id: 'desc' }]

/** A column by which a list is sorted instead of its own order. */
export interface Sort {
  column: string
  direction: 'asc' | 'desc'
}

/**
 * How `sort` orders a list; null: in its own order. Cursors are of the own order alone.
 * @throws Problem VALIDATION_ERROR for another order together with a cursor
 */
export function sortOf({ sort, cursor }: { sort?: string; cursor?: string }, own: string): Sort | null {
  if (sort === undefined || sort === own) return null
  if (cursor !== undefined) {
    const message = `goes through the list in the order ${own}: leave out sort, or give page in place of cursor`
    throw validationProblem([{ path: 'query/cursor', message }])
  }
  return sort.startsWith('-') ? { column: sort.slice(1), direction: 'desc' } : { column: sort, direction: 'asc' }
}

/** How Prisma reads the records of a list in its order. */
export interface RecordOrder<Row> extends ListOrder<Row> {
  /** The order as `sort` names it. */
  sort: string
  orderBy: readonly object[]
  /** The condition for the records after the one with this key. */
  isAfter(key: SortKey): object
}

/** The order of most kinds of records. */
export const newestRecords = (list: string): RecordOrder<{ id: string; created_at: Date }> => ({
  ...newestOrder(list),
  sort: '-created_at',
  orderBy: NEWEST_FIRST,
  isAfter([at = '', id = '']) {
    const created_at = new Date(at)
    return { OR: [{ created_at: { lt: created_at } }, { created_at, id: { lt: id } }] }
  },
})

/** For Prisma: the order of a list by one column. Records without a value come last. */
export const sortedBy = ({ column, direction }: Sort, isNullable: boolean): object[] => [
  { [column]: isNullable ? { sort: direction, nulls: 'last' } : direction },
  { id: direction },
]

/** For Prisma: a page of these records. */
export const pageInOrder = (
  where: object,
  { after, skip, take }: Slice,
  { orderBy, isAfter }: Pick<RecordOrder<never>, 'orderBy' | 'isAfter'>,
) => ({ where: { AND: [where, after === null ? {} : isAfter(after)] }, orderBy, skip, take })

/** Makes LIKE match the text literally. */
export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** The ILIKE pattern for names that contain the text; null matches every name. */
export const containsPattern = (search: string | undefined) => (search === undefined ? null : `%${escapeLike(search)}%`)

/** For Prisma: records of a file set. */
export const managedBy = (managed_by: string | undefined) => (managed_by === undefined ? {} : { managed_by })

/** The key of a name that is searched; null if none is. */
export const searchedKey = (search: string | undefined) => (search === undefined ? null : nameKey(search))

/** For Prisma: names that contain the text in any case, and the name that is the same text, see `nameKey`. */
export const nameContains = (search: string | undefined) =>
  search === undefined
    ? {}
    : { OR: [{ name: { contains: escapeLike(search), mode: 'insensitive' as const } }, { name_key: nameKey(search) }] }
