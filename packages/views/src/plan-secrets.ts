import { isSealed, mapSensitiveValues, mapValues, type Plan, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** What a sealed value is bound to: the command that made the plan, and the name of the variable. */
const identity = (commandId: string, name: string) => `plan:${commandId}:${name}`

/** The plan as it may leave the planner: every value of a sensitive name is sealed, as JSON. */
export function sealPlan(keys: KeyRing, plan: Plan): Plan {
  // Values are in clear here: one that looks sealed is somebody's data and is sealed like the others.
  return mapSensitiveValues(plan, (value, name) => ({
    $sealed: keys.seal(JSON.stringify(value), identity(plan.sealed_under, name)),
  }))
}

/**
 * Values of a sealed plan in clear.
 * @throws SecretError
 */
export function openPlanValues(keys: KeyRing, { sealed_under }: Pick<Plan, 'sealed_under'>, values: VariableValues) {
  return mapValues(values, (name, value): unknown =>
    isSealed(value) ? JSON.parse(keys.openText(value.$sealed, identity(sealed_under, name))) : value,
  )
}
