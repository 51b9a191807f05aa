import type { Queryable } from '@slipway/database'
import { DEPLOYMENT_STATES, pageOf, parsePage } from '@slipway/domain'
import { escapeLike } from '../catalog/listing.ts'
import { recordFilter } from '../catalog/record-id.ts'
import type { Answer, Call } from '../http/handler.ts'
import { FOUND, LISTED, matchNames } from './list.sql.ts'

/** Pages up to this offset are read together with the total, later pages from the nearer end. */
const NEAR = 1_000

export async function listDeployments(db: Queryable, call: Call<'listDeployments'>): Promise<Answer> {
  const { search = '' } = call.query
  if (search === '') return readList(db, call, null)
  const pattern = `%${escapeLike(search)}%`
  if ((await matchNames.one(db, { pattern })).all) {
    const unsearched = await readList(db, call, null)
    // Names are only added. If all names still match, all matched during the read.
    if ((await matchNames.one(db, { pattern })).all) return unsearched
  }
  return readList(db, call, { text: search, pattern })
}

interface Search {
  text: string
  pattern: string
}

async function readList(db: Queryable, { caller, query }: Call<'listDeployments'>, search: Search | null) {
  const page = parsePage(query)
  const tenant = recordFilter('tenant', query.tenant_id)
  const environment = recordFilter('environment', query.environment_id)
  if (tenant === null || environment === null) return answer(page, { total: 0, data: '[]' })
  const filter = {
    tenant_id: caller.tenant_id,
    of_tenant: tenant.id,
    of_tenant_number: tenant.number,
    of_environment: environment.id,
    of_environment_number: environment.number,
    states: query.state === undefined ? null : [query.state],
    source_types: query.source_type === undefined ? null : [query.source_type],
  }
  if (search === null) return answer(page, await readPage(db, LISTED, filter, page))
  const found_states = DEPLOYMENT_STATES.filter((state) => state.includes(search.text.toLowerCase()))
  if (found_states.length > 0 && !(await matchNames.one(db, search)).any) {
    // No name matches, so this is a filter by state. The counters cover it.
    const states = found_states.filter((state) => filter.states?.includes(state) ?? true)
    return answer(page, await readPage(db, LISTED, { ...filter, states }, page))
  }
  return answer(page, await readPage(db, FOUND, { ...filter, pattern: search.pattern, found_states }, page))
}

type Page = ReturnType<typeof parsePage>

interface Result {
  total: number
  data: string
}

const answer = (page: Page, { total, data }: Result): Answer => ({
  status: 200,
  json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}`,
})

interface Reads<V, R> {
  one(db: Queryable, values: V): Promise<R>
}

type Pages<V> = { count: Reads<V, Pick<Result, 'total'>> } & Record<
  'near' | 'fromNewest' | 'fromOldest',
  Reads<V & { take: number; skip: number }, Result>
>

async function readPage<V extends object>(
  db: Queryable,
  { count, near, fromNewest, fromOldest }: Pages<V>,
  values: V,
  { limit, offset }: Page,
): Promise<Result> {
  const slice = { ...values, take: limit, skip: offset }
  if (offset <= NEAR) return near.one(db, slice)
  const { total } = await count.one(db, values)
  // No query for an offset beyond the end: Postgres would read all rows.
  if (offset >= total) return { total, data: '[]' }
  return (offset < total / 2 ? fromNewest : fromOldest).one(db, slice)
}
