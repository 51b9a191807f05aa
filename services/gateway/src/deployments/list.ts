import type { Queryable } from '@slipway/database'
import { DEPLOYMENT_STATES, type Page, parsePage } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { EMPTY, escapeLike, type JsonPage, jsonPage, newestOrder, type Slice, sliceOf, sortOf } from '../pages.ts'
import { momentsOf, recordFilter, sourceFilter } from '../records/filters.ts'
import { FOUND, isSorted, LISTED, matchNames, ON_TARGET, type SortedBy } from './list.sql.ts'

/** Pages up to this offset are read from the newest deployment, with one statement. Later ones are read from the nearer end. */
const NEAR = 1_000

const NEWEST_FIRST = newestOrder('deployments')

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
  const page = parsePage(query, NEWEST_FIRST)
  const sort = sortOf(query, '-created_at') && query.sort
  const sorted = sort && isSorted(sort) ? sort : null
  const tenant = recordFilter('tenant', query.tenant_id)
  const environment = recordFilter('environment', query.environment_id)
  const narrowed = narrowFilter(query)
  const target = recordFilter('target', query.target_id)
  if (tenant === null || environment === null || narrowed === null || target === null)
    return jsonPage(page, NEWEST_FIRST, EMPTY)
  const filter = {
    tenant_id: caller.tenant_id,
    of_tenant: tenant.id,
    of_tenant_number: tenant.number,
    of_environment: environment.id,
    of_environment_number: environment.number,
    states: query.state === undefined ? null : [query.state],
    source_types: query.source_type === undefined ? null : [query.source_type],
  }
  const isCounted = [...Object.values(narrowed), query.target_id ?? null].every((value) => value === null)
  const find = async (states: string[] | null, pattern: string | null, found_states: string[]) => {
    const found = { ...filter, ...narrowed, states, pattern, found_states }
    if (query.target_id === undefined)
      return jsonPage(page, NEWEST_FIRST, await readPage(db, FOUND, found, page, sorted))
    const onTarget = { ...found, of_target: target.id, of_target_number: target.number }
    return jsonPage(page, NEWEST_FIRST, await readPage(db, ON_TARGET, onTarget, page, sorted))
  }
  const findUnsearched = async (states: string[] | null) =>
    isCounted
      ? jsonPage(page, NEWEST_FIRST, await readPage(db, LISTED, { ...filter, states }, page, sorted))
      : find(states, null, [])
  if (search === null) return findUnsearched(filter.states)
  const found_states = DEPLOYMENT_STATES.filter((state) => state.includes(search.text.toLowerCase()))
  if (found_states.length > 0 && !(await matchNames.one(db, search)).any) {
    // No name matches, so this is a filter by state.
    return findUnsearched(found_states.filter((state) => filter.states?.includes(state) ?? true))
  }
  return find(filter.states, search.pattern, found_states)
}

/** The filters that the counters do not cover, without the target; null if the id cannot name a source. */
function narrowFilter(query: Call<'listDeployments'>['query']) {
  const { version = null, triggered_by = null, created_from, created_before } = query
  const source = sourceFilter(query)
  return source && { ...source, version, triggered_by, ...momentsOf({ created_from, created_before }) }
}

interface Reads<V, R> {
  one(db: Queryable, values: V): Promise<R>
}

type Pages<V> = {
  count: Reads<V, Pick<JsonPage, 'total'>>
  sorted(sort: SortedBy): Reads<V & Pick<Slice, 'take' | 'skip'>, JsonPage>
} & Record<'fromNewest' | 'fromOldest', Reads<V & Slice, JsonPage>>

async function readPage<V extends object>(
  db: Queryable,
  { count, fromNewest, fromOldest, sorted }: Pages<V>,
  values: V,
  page: Page,
  sort: SortedBy | null,
): Promise<JsonPage> {
  const { offset } = page
  const slice = { ...values, ...sliceOf(page) }
  if (offset <= NEAR) return (sort === null ? fromNewest : sorted(sort)).one(db, slice)
  const { total } = await count.one(db, values)
  // No query for an offset beyond the end: Postgres would read all rows (goal: list at 1,000,000 deployments).
  if (offset >= total) return { total, data: '[]' }
  if (sort !== null) return sorted(sort).one(db, slice)
  return (offset < total / 2 ? fromNewest : fromOldest).one(db, slice)
}
