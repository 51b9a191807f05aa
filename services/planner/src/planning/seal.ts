import type { CommandBody } from '@slipway/contracts'
import { isSealed, mapSensitiveValues, type Plan, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

type SealedPlan = CommandBody<'deployment.start'>['plan']

const identity = (commandId: string, name: string) => `plan:${commandId}:${name}`

/** The plan as it may leave the process: every value of a sensitive name is sealed, as JSON, for this command. */
export function sealPlan(keyRing: KeyRing, commandId: string, plan: Plan): SealedPlan {
  // Values are in clear here: one that looks sealed is somebody's data and is sealed like the others.
  const sealed = mapSensitiveValues(plan, (value, name) => ({
    $sealed: keyRing.seal(JSON.stringify(value), identity(commandId, name)),
  }))
  return { ...sealed, sealed_under: commandId } as SealedPlan
}

/** Values of an earlier plan in clear. Throws SecretError. */
export function openPlanValues(keyRing: KeyRing, sealedUnder: string, values: VariableValues): VariableValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      isSealed(value) ? (JSON.parse(keyRing.openText(value.$sealed, identity(sealedUnder, name))) as unknown) : value,
    ]),
  )
}
