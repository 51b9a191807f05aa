import { openVariables, type StoredVariables, sealVariables, type VariableOwner } from '@slipway/database/read-models'
import { changeVariables, NO_VARIABLES, type VariableChange, variableChanges } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** @throws Problem VALIDATION_ERROR */
export const newVariables = (keys: KeyRing, owner: VariableOwner, id: string, given: VariableChange) =>
  sealVariables(keys, owner, id, changeVariables(NO_VARIABLES, given))

/**
 * The new columns of the variables, and the changes for the audit log; null if the body does not change variables.
 * @throws Problem VALIDATION_ERROR
 */
export function changedVariables(keys: KeyRing, owner: VariableOwner, stored: StoredVariables, given: VariableChange) {
  if (given.variables === undefined && given.sensitive_variables === undefined) return null
  const before = openVariables(keys, owner, stored)
  const after = changeVariables(before, given)
  return { columns: sealVariables(keys, owner, stored.id, after), changes: variableChanges(before, after, given) }
}
