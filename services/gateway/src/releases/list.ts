import type { Queryable } from '@slipway/database'
import { type ListOrder, notFound } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { findTarget } from '../deployments/of-target.ts'
import type { Call } from '../handler.ts'
import { answerJsonPage, containsPattern } from '../pages.ts'
import { recordFilter, sourceFilter } from '../records/filters.ts'
import { releaseFilter, scopeFilter } from './filter.ts'
import { findInstalled } from './list.sql.ts'
import { findMatrix } from './matrix.sql.ts'
import { findReleasesOfTarget } from './of-target.sql.ts'

interface Named {
  source_name: string
  source_id: string
}

const BY_NAME: ListOrder<Named & { target_name: string; target_id: string }> = {
  list: 'releases',
  kinds: ['text', 'text', 'uuid', 'uuid'],
  keyOf: ({ source_name, target_name, source_id, target_id }) => [source_name, target_name, source_id, target_id],
}
const BY_SOURCE: ListOrder<Named> = {
  list: 'matrix',
  kinds: ['text', 'uuid'],
  keyOf: ({ source_name, source_id }) => [source_name, source_id],
}
const NEWEST_BEGUN_FIRST: ListOrder<{ begun_at: string; deployment_id: string }> = {
  list: 'target-releases',
  kinds: ['time', 'uuid'],
  keyOf: ({ begun_at, deployment_id }) => [begun_at, deployment_id],
}

export async function listReleases(db: Queryable, call: Call<'listReleases'>): Promise<Answer> {
  const filter = releaseFilter(call)
  return answerJsonPage(call.query, BY_NAME, filter && ((slice) => findInstalled.one(db, { ...filter, ...slice })))
}

export async function getReleaseMatrix(db: Queryable, call: Call<'getReleaseMatrix'>): Promise<Answer> {
  const filter = scopeFilter(call)
  return answerJsonPage(call.query, BY_SOURCE, filter && ((slice) => findMatrix.one(db, { ...filter, ...slice })))
}

/** Answers one page of the history of a target. A user of a tenant sees the releases of the tenant's deployments only. */
export async function listTargetReleases(
  db: Queryable,
  { caller: { tenant_id }, params, query }: Call<'listTargetReleases'>,
): Promise<Answer> {
  const source = sourceFilter(query)
  const key = recordFilter('target', params['id'])
  const target = key && (await findTarget.first(db, { ...key, tenant_id }))
  if (target === null) throw notFound('The target')
  const filter = source && {
    ...source,
    target_id: target.id,
    tenant_id,
    pattern: containsPattern(query.search),
    state: query.state ?? null,
    current: query.current === undefined ? null : query.current === 'true',
  }
  return answerJsonPage(
    query,
    NEWEST_BEGUN_FIRST,
    filter && ((slice) => findReleasesOfTarget.one(db, { ...filter, ...slice })),
  )
}
