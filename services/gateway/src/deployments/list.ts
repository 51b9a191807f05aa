import type { Queryable } from '@slipway/database'
import { pageOf, parsePage } from '@slipway/domain'
import { escapeLike } from '../catalog/listing.ts'
import type { Answer, Call } from '../http/handler.ts'
import { Filter } from './filter.ts'
import { jsonObject, SUMMARY, withProgress } from './summary-sql.ts'

/** One page of deployments, newest first. */
export async function listDeployments(db: Queryable, { caller, query }: Call<'listDeployments'>): Promise<Answer> {
  const page = parsePage(query)
  const filter = new Filter(caller, 'd')
    .addRecord('tenant', 'd.tenant_id', query.tenant_id)
    .addRecord('environment', 'd.environment_id', query.environment_id)
    .add(query.state, (state) => `d.state = ${state}::deployment_state`)
    .add(query.source_type, (type) => `d.source_type = ${type}::source_kind`)
    .add(
      query.search === undefined ? undefined : `%${escapeLike(query.search)}%`,
      (pattern) => `(d.source_name ILIKE ${pattern} OR d.state::text ILIKE ${pattern})`,
    )
  const counted = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM deployments d WHERE ${filter.sql}`,
    filter.parameters,
  )
  const total = counted.rows[0]?.total ?? 0
  const data = page.offset < total ? await readPage(db, filter, page) : '[]'
  return { status: 200, json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}` }
}

async function readPage(db: Queryable, filter: Filter, page: { limit: number; offset: number }): Promise<string> {
  const where = filter.sql
  const slice = `LIMIT ${filter.parameter(page.limit)} OFFSET ${filter.parameter(page.offset)}`
  const newestFirst = 'd.created_at DESC, d.id DESC'
  const deployments = `(SELECT d.* FROM deployments d WHERE ${where} ORDER BY ${newestFirst} ${slice})`
  const { rows } = await db.query<{ data: string }>(
    `SELECT coalesce(json_agg(${jsonObject(SUMMARY)} ORDER BY ${newestFirst}), '[]')::text AS data
     FROM ${withProgress(deployments)}`,
    filter.parameters,
  )
  return rows[0]?.data ?? '[]'
}
