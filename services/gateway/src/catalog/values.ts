import { openVariables, type StoredVariables, sealVariables, type VariableOwner } from '@slipway/database/read-models'
import {
  changeVariables,
  type InstanceSelector,
  type MaybeSelector,
  NO_VARIABLES,
  type VariableChange,
  variableChanges,
} from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { changesOf } from '../records/changes.ts'
import { keyOfName } from '../records/names.ts'

type Given = VariableChange & { instance_selector?: MaybeSelector; name?: string | undefined }

/** A record stores the empty selector for any instance. */
const storedSelector = (selector: MaybeSelector): { instance_selector: InstanceSelector } => ({
  instance_selector: selector ?? {},
})

/** Empty if the body does not change the selector. */
export const changedSelector = ({ instance_selector }: Pick<Given, 'instance_selector'>) =>
  instance_selector === undefined ? {} : storedSelector(instance_selector)

/**
 * The columns of a new record with variables and an instance selector: those, and the key of its name.
 * @throws Problem VALIDATION_ERROR
 */
export const newValues = (keys: KeyRing, owner: VariableOwner, id: string, given: Given) => ({
  ...keyOfName(given),
  ...sealVariables(keys, owner, id, changeVariables(NO_VARIABLES, given)),
  ...storedSelector(given.instance_selector ?? null),
})

/**
 * The columns of a change of these fields, the variables and the selector, and what the audit record says.
 * @throws Problem VALIDATION_ERROR
 */
export function changedValues<Fields extends object>(
  keys: KeyRing,
  owner: VariableOwner,
  old: StoredVariables,
  given: Given,
  fields: Fields,
) {
  const selector = changedSelector(given)
  const variables = changedVariables(keys, owner, old, given)
  return {
    columns: { ...fields, ...keyOfName(given), ...selector, ...variables?.columns },
    details: {
      changes: changesOf(old, { ...fields, ...selector }),
      ...(variables && { variables: variables.changes }),
    },
  }
}

/** Null if the body does not change variables. */
function changedVariables(keys: KeyRing, owner: VariableOwner, stored: StoredVariables, given: VariableChange) {
  if (given.variables === undefined && given.sensitive_variables === undefined) return null
  const before = openVariables(keys, owner, stored)
  const after = changeVariables(before, given)
  return { columns: sealVariables(keys, owner, stored.id, after), changes: variableChanges(before, after, given) }
}
