import type { Call } from '../handler.ts'
import { containsPattern, searchedKey } from '../pages.ts'
import { recordFilter } from './record-id.ts'

/** What the statements of a page of targets filter by; null if the environment cannot name a record. */
export function targetFilter({ caller, query }: Pick<Call<'listTargets'>, 'caller' | 'query'>) {
  const environment = recordFilter('environment', query.environment_id)
  if (environment === null) return null
  return {
    tenant_id: caller.tenant_id,
    pattern: containsPattern(query.search),
    searched_key: searchedKey(query.search),
    of_environment: environment.id,
    of_environment_number: environment.number,
    ...tagFilter(query.tag),
    enabled: query.enabled === undefined ? null : query.enabled === 'true',
    status: query.status ?? null,
    managed_by: query.managed_by ?? null,
  }
}

/** The key ends at the first equals sign. Without one, every value matches. */
export function tagFilter(text: string | undefined) {
  const [, tag_key = null, , tag_value = null] = /^([^=]+)(=(.*))?$/s.exec(text ?? '') ?? []
  return { tag_key, tag_value }
}
