import {
  isSealed,
  mapSensitiveValues,
  mapValues,
  mask,
  type Plan,
  type RecordVariables,
  type VariableValues,
} from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { Queryable } from '../sql/statement.ts'

export type VariableOwner = 'target' | 'tenant' | 'environment'

export interface StoredVariables {
  id: string
  variables_sealed: string | null
  /** May contain names without a value: a migration added every name that a source declares as sensitive. */
  sensitive_variables: string[]
}

/** Sealed variables are bound to their record. */
const variablesIdentity = (owner: VariableOwner, id: string) => `${owner}:${id}:variables`

export function openVariables(
  keys: KeyRing,
  owner: VariableOwner,
  { id, variables_sealed, sensitive_variables }: StoredVariables,
): RecordVariables {
  if (variables_sealed === null) return { values: {}, sensitive: [] }
  const values = JSON.parse(keys.openText(variables_sealed, variablesIdentity(owner, id))) as VariableValues
  return { values, sensitive: sensitive_variables.filter((name) => Object.hasOwn(values, name)).sort() }
}

/** The columns for these variables. All values are sealed, sensitive or not. */
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

export interface ViewContext {
  db: Queryable
  keys: KeyRing
}

/** The variables of a record with masked secrets. */
export function shownVariables(
  keys: KeyRing,
  owner: VariableOwner,
  record: StoredVariables,
): { variables: VariableValues; sensitive_variables: readonly string[] } {
  const { values, sensitive } = openVariables(keys, owner, record)
  return { variables: mask(values, sensitive), sensitive_variables: sensitive }
}

/** A sealed value is bound to the command of its plan and to its variable. */
const identity = (commandId: string, name: string) => `plan:${commandId}:${name}`

/** Seals every value of a sensitive variable in the plan. */
export function sealPlan(keys: KeyRing, plan: Plan): Plan {
  // No value is sealed yet. A value that looks sealed is data of a user.
  return mapSensitiveValues(plan, (value, name) => ({
    $sealed: keys.seal(JSON.stringify(value), identity(plan.sealed_under, name)),
  }))
}

/** @throws SecretError */
export function openPlanValues(keys: KeyRing, { sealed_under }: Pick<Plan, 'sealed_under'>, values: VariableValues) {
  return mapValues(values, (name, value): unknown =>
    isSealed(value) ? JSON.parse(keys.openText(value.$sealed, identity(sealed_under, name))) : value,
  )
}
