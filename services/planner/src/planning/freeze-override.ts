import type { CommandBody } from '@slipway/contracts'
import { insufficientPermissions, validationProblem } from '@slipway/domain'

/** The fields of a request about freezes. */
export interface FreezeOverride {
  override_freeze?: boolean | undefined
  override_reason?: string | undefined
}

/** Refuses an override without permission even if nothing is frozen, because an override must never be ignored silently. */
export function checkOverride(
  caller: CommandBody<'plan.create'>['caller'],
  { override_freeze, override_reason }: FreezeOverride,
): void {
  if (!override_freeze) return
  if (!caller.may_override_freezes)
    throw insufficientPermissions('to override freezes: the role admin and deployments:override')
  if (override_reason === undefined) {
    throw validationProblem([{ path: '/override_reason', message: 'is required with override_freeze' }])
  }
}

/** The override for the dispatcher to judge and to record, or null. */
export const overrideOf = ({
  override_freeze = false,
  override_reason = '',
}: FreezeOverride): CommandBody<'deployment.start'>['freeze_override'] =>
  override_freeze ? { reason: override_reason } : null
