import { isSealed, mapValues, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** The values with every sealed one opened. Sealed values are bound to the command that made the plan, and to their name. */
export function openValues(keys: KeyRing, values: VariableValues, sealedUnder: string): VariableValues {
  return mapValues(values, (name, value) =>
    isSealed(value) ? (JSON.parse(keys.openText(value.$sealed, `plan:${sealedUnder}:${name}`)) as unknown) : value,
  )
}

export interface ConnectionSecrets {
  private_key?: string
  password?: string
}

export function openConnectionSecrets(keys: KeyRing, targetId: string, sealed: string | null): ConnectionSecrets {
  if (sealed === null) return {}
  return JSON.parse(keys.openText(sealed, `target:${targetId}:connection`)) as ConnectionSecrets
}
