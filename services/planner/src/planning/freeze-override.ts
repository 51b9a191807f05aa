import type { CommandBody } from '@slipway/contracts'
import { insufficientPermissions, validationProblem } from '@slipway/domain'

/** The fields of a request that override freezes and rules. */
export interface Overrides {
  override_freeze?: boolean | undefined
  override_rules?: boolean | undefined
  override_reason?: string | undefined
}

/** Refuses an override without permission even if nothing is in its way, because an override must never be ignored silently. */
export function checkOverride(
  caller: CommandBody<'plan.create'>['caller'],
  { override_freeze = false, override_rules = false, override_reason }: Overrides,
): void {
  if (!override_freeze && !override_rules) return
  if (!caller.may_override_freezes)
    throw insufficientPermissions('to override freezes and rules: the role admin and deployments:override')
  if (override_reason === undefined) {
    const field = override_freeze ? 'override_freeze' : 'override_rules'
    throw validationProblem([{ path: '/override_reason', message: `is required with ${field}` }])
  }
}

type Start = CommandBody<'deployment.start'>

/** The override for the dispatcher to judge and to record, or null. */
export const freezeOverrideOf = ({ override_freeze, override_reason = '' }: Overrides): Start['freeze_override'] =>
  override_freeze === true ? { reason: override_reason } : null

export const rulesOverrideOf = ({ override_rules, override_reason = '' }: Overrides): Start['rules_override'] =>
  override_rules === true ? { reason: override_reason } : null
