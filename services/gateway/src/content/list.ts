import { CONTENT_USES } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { type ListOrder, NO_TIME } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { answerPage } from '../pages.ts'
import { countContent, findContent } from './list.sql.ts'

/** Answers a page of the content that the caller may read. */
export async function listContent(db: Queryable, { caller, query }: Call<'listContent'>): Promise<Answer> {
  const viewer = { user_id: caller.user_id, tenant_id: caller.tenant_id }
  return answerPage(
    query,
    LAST_UPLOADED_FIRST,
    async () => (await countContent.one(db, viewer)).total,
    (slice) => findContent.all(db, { ...viewer, ...slice, uses: CONTENT_USES }),
    (rows) => rows.map((row) => ({ ...row, uploaded_at: row.uploaded_at?.toISOString() ?? null })),
  )
}

const LAST_UPLOADED_FIRST: ListOrder<{ uploaded_at: Date | null; id: string }> = {
  list: 'content',
  kinds: ['maybe-time', 'text'],
  keyOf: ({ uploaded_at, id }) => [uploaded_at?.toISOString() ?? NO_TIME, id],
}
