import { isSealed, mapSensitiveValues, mapValues, type Plan, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

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
