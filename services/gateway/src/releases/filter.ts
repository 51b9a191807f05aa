import type { Call } from '../handler.ts'
import { containsPattern } from '../pages.ts'
import { recordFilter, sourceFilter, tagFilter } from '../records/filters.ts'

/** What the statements of the matrix filter by; null if an id cannot name a record. */
export function scopeFilter({ caller, query }: Pick<Call<'getReleaseMatrix'>, 'caller' | 'query'>) {
  const tenant = recordFilter('tenant', query.tenant_id)
  const environment = recordFilter('environment', query.environment_id)
  if (tenant === null || environment === null) return null
  return {
    tenant_id: caller.tenant_id,
    pattern: containsPattern(query.search),
    of_tenant: tenant.id,
    of_tenant_number: tenant.number,
    of_environment: environment.id,
    of_environment_number: environment.number,
    source_type: query.source_type ?? null,
  }
}

/** What the statement of a page of releases filters by; null if an id cannot name a record. */
export function releaseFilter(call: Pick<Call<'listReleases'>, 'caller' | 'query'>) {
  const { target_id, tag, version = null, state = null } = call.query
  const source = sourceFilter(call.query)
  const scope = scopeFilter(call)
  const target = recordFilter('target', target_id)
  if (source === null || scope === null || target === null) return null
  return {
    ...scope,
    ...source,
    ...tagFilter(tag),
    of_target: target.id,
    of_target_number: target.number,
    version,
    state,
  }
}
