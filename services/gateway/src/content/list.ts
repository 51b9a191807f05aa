import { CONTENT_USES } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { pageOf, parsePage } from '@slipway/domain'
import type { Answer, Call } from '../http/handler.ts'
import { countContent, findContent } from './list.sql.ts'

/** Answers a page of the content that the caller may read. */
export async function listContent(db: Queryable, { caller, query }: Call<'listContent'>): Promise<Answer> {
  const viewer = { user_id: caller.user_id, tenant_id: caller.tenant_id }
  const page = parsePage(query)
  const { total } = await countContent.one(db, viewer)
  const slice = { uses: CONTENT_USES, take: page.limit, skip: page.offset }
  const rows = page.offset < total ? await findContent.all(db, { ...viewer, ...slice }) : []
  const data = rows.map((row) => ({ ...row, uploaded_at: row.uploaded_at?.toISOString() ?? null }))
  return { status: 200, body: { data, meta: pageOf(page, total) } }
}
