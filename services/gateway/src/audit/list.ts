import type { Queryable } from '@slipway/database'
import { auditCount } from '@slipway/database/audit'
import { type ListOrder, type Page, parsePage } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { jsonPage, sliceOf } from '../pages.ts'
import { momentsOf } from '../records/filters.ts'
import { countActions, countRecords, pageAfter, pageFromNewest, pageFromOldest } from './list.sql.ts'

/** Answers one page of the audit log, newest first. A user of a tenant sees the records of the tenant only. */
export async function listAuditLogs(db: Queryable, { caller, query }: Call<'listAuditLogs'>): Promise<Answer> {
  const page = parsePage(query, ORDER)
  const {
    action = null,
    exclude_action,
    resource_type = null,
    resource_id = null,
    actor_id = null,
    api_key_id = null,
    from,
    to,
  } = query
  const filter = {
    tenant_id: caller.tenant_id,
    action,
    exclude_actions: exclude_action?.split(',') ?? null,
    resource_type,
    resource_id,
    actor_id,
    api_key_id,
    ...momentsOf({ from, to }),
  }
  const total = await countAll(db, filter)
  return jsonPage(page, ORDER, { total, data: await readRecords(db, filter, page, total) })
}

type Filter = Parameters<typeof countRecords.one>[1]

/** Of the whole log the chain knows the number. To count millions of records for each page would take seconds. */
async function countAll(db: Queryable, filter: Filter): Promise<number> {
  const { exclude_actions: excluded, ...others } = filter
  const isWhole = Object.values(others).every((value) => value === null)
  if (!isWhole) return (await countRecords.one(db, filter)).total
  if (excluded === null) return await auditCount(db)
  const [all, { total }] = await Promise.all([auditCount(db), countActions.one(db, { actions: excluded })])
  // The chain follows the records a moment later.
  return Math.max(0, all - total)
}

async function readRecords(db: Queryable, filter: Filter, page: Page, total: number): Promise<string> {
  const { limit, offset } = page
  const { take, skip, after } = sliceOf(page)
  const [after_at, after_id] = after ?? []
  if (after_at !== undefined && after_id !== undefined) {
    return (await pageAfter.one(db, { ...filter, take, after_at: new Date(after_at), after_id })).data
  }
  if (page.cursor !== null) return (await pageFromNewest.one(db, { ...filter, take, skip })).data
  if (offset >= total) return '[]'
  // A page in the older half is read from the oldest record: a large offset is slow.
  const isOld = offset > total / 2
  const shown = Math.min(limit, total - offset)
  const slice = { ...filter, take: shown, skip: isOld ? total - offset - shown : offset }
  return (await (isOld ? pageFromOldest : pageFromNewest).one(db, slice)).data
}

const ORDER: ListOrder<{ at: string; id: string }> = {
  list: 'audit',
  kinds: ['time', 'uuid'],
  keyOf: ({ at, id }) => [at, id],
}
