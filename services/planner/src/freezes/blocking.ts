import type { CommandBody } from '@slipway/contracts'
import type { FreezesNow } from '@slipway/database'
import {
  type FreezeVerdict,
  frozen,
  insufficientPermissions,
  judgeFreezes,
  type Plan,
  type TargetPlace,
  validationProblem,
} from '@slipway/domain'

type Caller = CommandBody<'plan.create'>['caller']

/** The fields of a request about freezes. */
export interface FreezeOverride {
  override_freeze?: boolean | undefined
  override_reason?: string | undefined
}

/** Judges a plan of this caller by the freezes, at the moment when they were read. */
export function judge(
  plan: Plan,
  targets: readonly TargetPlace[],
  { freezes, now }: FreezesNow,
  caller: Caller,
  { override_freeze = false }: FreezeOverride,
): FreezeVerdict {
  const place = {
    tenant_id: plan.tenant?.id ?? null,
    environment_id: plan.environment?.id ?? null,
    solution_id: plan.source.type === 'solution' ? plan.source.id : null,
    targets,
  }
  return judgeFreezes(freezes.presentAt(now), { ...place, caller, override: override_freeze })
}

/** Refuses an override without permission even if nothing is frozen, because an override must never be ignored silently. */
export function checkOverride(caller: Caller, { override_freeze, override_reason }: FreezeOverride): void {
  if (!override_freeze) return
  if (!caller.may_override_freezes)
    throw insufficientPermissions('to override freezes: the role admin and deployments:override')
  if (override_reason === undefined) {
    throw validationProblem([{ path: '/override_reason', message: 'is required with override_freeze' }])
  }
}

/**
 * The override for the dispatcher to record, or null.
 * @throws Problem DEPLOYMENT_FROZEN if freezes block the plan and the caller did not override them, or must not
 */
export function passFreezes(
  { blocked, active_freezes, can_override }: FreezeVerdict,
  { override_freeze = false, override_reason = '' }: FreezeOverride,
): { reason: string } | null {
  if (blocked) throw frozen(active_freezes, can_override)
  return override_freeze ? { reason: override_reason } : null
}

/** The warnings of a preview about active freezes. */
export function freezeWarnings({ blocked, active_freezes }: FreezeVerdict): string[] {
  const what = blocked ? 'blocks this deployment' : 'is overridden and stays in force'
  return active_freezes.map(({ name, ends_at, target_ids }) => {
    const through = target_ids === undefined ? '' : ` (by ${target_ids.length} of its targets)`
    return `Freeze "${name}"${through} ${what} until ${ends_at}`
  })
}
