import { changeVariables, NO_VARIABLES, type VariableChange, variableChanges } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { openVariables, type StoredVariables, sealVariables, type VariableOwner } from '@slipway/views'

/**
 * The columns of a new record's variables.
 * @throws Problem VALIDATION_ERROR
 */
export const newVariables = (keys: KeyRing, owner: VariableOwner, id: string, given: VariableChange) =>
  sealVariables(keys, owner, id, changeVariables(NO_VARIABLES, given))

/**
 * The columns that a change of a record's variables gives it, and the changes for the audit log; null when the change does
 * not concern variables.
 * @throws Problem VALIDATION_ERROR
 */
export function changedVariables(keys: KeyRing, owner: VariableOwner, stored: StoredVariables, given: VariableChange) {
  if (given.variables === undefined && given.sensitive_variables === undefined) return null
  const before = openVariables(keys, owner, stored)
  const after = changeVariables(before, given)
  return { columns: sealVariables(keys, owner, stored.id, after), changes: variableChanges(before, after, given) }
}
