import type { VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** Opens a record's variables, which are sealed as one JSON object. Throws SecretError. */
export function openVariables(keyRing: KeyRing, sealed: string | null, aad: string): VariableValues {
  return sealed === null ? {} : (JSON.parse(keyRing.openText(sealed, aad)) as VariableValues)
}
