import type { Queryable } from '@slipway/database'
import { mask, type RecordVariables, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

export type VariableOwner = 'target' | 'tenant' | 'environment'

/** The columns in which a record keeps its variables. */
export interface StoredVariables {
  id: string
  variables_sealed: string | null
  /** May also hold names that have no value: the migration marked every name that a source declared sensitive. */
  sensitive_variables: string[]
}

/** What sealed variables are bound to: the record that has them. */
export const variablesIdentity = (owner: VariableOwner, id: string) => `${owner}:${id}:variables`

export function openVariables(
  keys: KeyRing,
  owner: VariableOwner,
  { id, variables_sealed, sensitive_variables }: StoredVariables,
): RecordVariables {
  if (variables_sealed === null) return { values: {}, sensitive: [] }
  const values = JSON.parse(keys.openText(variables_sealed, variablesIdentity(owner, id))) as VariableValues
  return { values, sensitive: sensitive_variables.filter((name) => Object.hasOwn(values, name)).sort() }
}

/** The columns for these variables. The values are sealed as a whole, whether they are sensitive or not. */
export function sealVariables(
  keys: KeyRing,
  owner: VariableOwner,
  id: string,
  { values, sensitive }: RecordVariables,
): Omit<StoredVariables, 'id'> {
  const isEmpty = Object.keys(values).length === 0
  return {
    variables_sealed: isEmpty ? null : keys.seal(JSON.stringify(values), variablesIdentity(owner, id)),
    sensitive_variables: [...sensitive],
  }
}

/** What is needed to show a record: a connection and the keys. */
export interface Looking {
  db: Queryable
  keys: KeyRing
}

/** The variables of a record as answers show them. */
export function shownVariables(
  keys: KeyRing,
  owner: VariableOwner,
  record: StoredVariables,
): { variables: VariableValues; sensitive_variables: readonly string[] } {
  const { values, sensitive } = openVariables(keys, owner, record)
  return { variables: mask(values, sensitive), sensitive_variables: sensitive }
}
