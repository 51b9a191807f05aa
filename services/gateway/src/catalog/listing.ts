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

/** Newest first, as every list of records. */
export const NEWEST_FIRST: ({ created_at: 'desc' } | { id: 'desc' })[] = [{ created_at: 'desc' }, { id: 'desc' }]

/** Text in which LIKE finds nothing but itself. */
export const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** Condition on `name`: a substring without regard to case. */
export const nameContains = (search: string | undefined) =>
  search === undefined ? {} : { name: { contains: escapeLike(search), mode: 'insensitive' as const } }
