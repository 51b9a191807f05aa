import { array, type Queryable, statement, uuid } from '@slipway/database'
import { missingRecords, type Scope } from '@slipway/domain'
import type { Reference, References } from './references.ts'

/** A scope in a body, by ids of both forms. */
export interface GivenScope {
  environment_ids?: string[] | null
  solution_ids?: string[] | null
}

const LISTS = [
  { field: 'environment_ids', kind: 'environment' },
  { field: 'solution_ids', kind: 'solution' },
] as const

/** The records that a scope in a body names. `path` is the place of the scope. */
export const scopeReferences = (scope: GivenScope, path = ''): Reference[] =>
  LISTS.flatMap(({ field, kind }) =>
    (scope[field] ?? []).map((id, index) => ({ path: `${path}/${field}/${index}`, kind, id })),
  )

/** A scope with the ids of its records. */
export function resolvedScope(scope: GivenScope, references: References, path = ''): Scope {
  const ids = (field: 'environment_ids' | 'solution_ids') =>
    scope[field]?.flatMap((_, index) => references.id(`${path}/${field}/${index}`) ?? []) ?? null
  return { environment_ids: ids('environment_ids'), solution_ids: ids('solution_ids') }
}

/** Locks environments until the end of the transaction: one that a binding or a key names must not be deleted. */
const holdEnvironments = statement({
  name: 'gateway.scopes.hold-environments',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: 'SELECT id FROM environments WHERE id = ANY (:ids) ORDER BY id FOR KEY SHARE',
})

/** The same for solutions. */
const holdSolutions = statement({
  name: 'gateway.scopes.hold-solutions',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: `SELECT id FROM sources WHERE id = ANY (:ids) AND kind = 'solution' ORDER BY id FOR KEY SHARE`,
})

/**
 * Keeps the environments and solutions of scopes until the transaction ends.
 * @throws Problem NOT_FOUND for those that are gone
 */
export async function holdScope(tx: Queryable, scopes: readonly Scope[]): Promise<void> {
  const environments = [...new Set(scopes.flatMap(({ environment_ids }) => environment_ids ?? []))]
  const solutions = [...new Set(scopes.flatMap(({ solution_ids }) => solution_ids ?? []))]
  const held = [
    ...(environments.length === 0 ? [] : await holdEnvironments.all(tx, { ids: environments })),
    ...(solutions.length === 0 ? [] : await holdSolutions.all(tx, { ids: solutions })),
  ].map(({ id }) => id)
  const gone = [...environments, ...solutions].filter((id) => !held.includes(id))
  if (gone.length > 0) throw missingRecords(gone.map((id) => ({ path: '', id })))
}
