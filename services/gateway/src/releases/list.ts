import type { Queryable } from '@slipway/database'
import { notFound } from '@slipway/domain'
import { answerJsonPage, containsPattern } from '../catalog/listing.ts'
import { recordFilter } from '../catalog/record-id.ts'
import { sourceFilter } from '../catalog/source-filter.ts'
import { findTarget } from '../deployments/of-target.sql.ts'
import type { Answer, Call } from '../http/handler.ts'
import { releaseFilter, scopeFilter } from './filter.ts'
import { findInstalled } from './list.sql.ts'
import { findMatrix } from './matrix.sql.ts'
import { findReleasesOfTarget } from './of-target.sql.ts'

export async function listReleases(db: Queryable, call: Call<'listReleases'>): Promise<Answer> {
  const filter = releaseFilter(call)
  return answerJsonPage(call.query, filter && ((slice) => findInstalled.one(db, { ...filter, ...slice })))
}

export async function getReleaseMatrix(db: Queryable, call: Call<'getReleaseMatrix'>): Promise<Answer> {
  const filter = scopeFilter(call)
  return answerJsonPage(call.query, filter && ((slice) => findMatrix.one(db, { ...filter, ...slice })))
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
  return answerJsonPage(query, filter && ((slice) => findReleasesOfTarget.one(db, { ...filter, ...slice })))
}
