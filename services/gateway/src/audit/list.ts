import { auditCount } from '@slipway/audit'
import type { Queryable } from '@slipway/database'
import { pageOf, parsePage } from '@slipway/domain'
import { momentsOf } from '../catalog/moments.ts'
import type { Answer, Call } from '../http/handler.ts'
import { countRecords, pageFromNewest, pageFromOldest } from './list.sql.ts'

/** Answers one page of the audit log, newest first. A user of a tenant sees the records of the tenant only. */
export async function listAuditLogs(db: Queryable, { caller, query }: Call<'listAuditLogs'>): Promise<Answer> {
  const page = parsePage(query)
  const { limit, offset } = page
  const {
    action = null,
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
    resource_type,
    resource_id,
    actor_id,
    api_key_id,
    ...momentsOf({ from, to }),
  }
  const isWhole = Object.values(filter).every((value) => value === null)
  const total = isWhole ? await auditCount(db) : (await countRecords.one(db, filter)).total
  let data = '[]'
  if (offset < total) {
    // A page in the older half is read from the oldest record: a large offset is slow.
    const isOld = offset > total / 2
    const take = Math.min(limit, total - offset)
    const slice = { ...filter, take, skip: isOld ? total - offset - take : offset }
    data = (await (isOld ? pageFromOldest : pageFromNewest).one(db, slice)).data
  }
  return { status: 200, json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}` }
}
