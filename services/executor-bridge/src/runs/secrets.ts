import { isSealed, mapValues, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** The values with every sealed one opened. Sealed values are bound to the command that made the plan, and to their name. */
export function openValues(keys: KeyRing, values: VariableValues, sealedUnder: string): VariableValues {
  return mapValues(values, (name, value) =>
    isSealed(value) ? (JSON.parse(keys.openText(value.$sealed, `plan:${sealedUnder}:${name}`)) as unknown) : value,
  )
}
