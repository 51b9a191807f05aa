import {
  type FreezeVerdict,
  frozen,
  insufficientPermissions,
  judgeFreezes,
  type Plan,
  type TargetPlace,
  validationProblem,
} from '@slipway/domain'
import type { FreezesNow } from '@slipway/views'
import type { Caller } from '../records/visibility.ts'

/** What a request says about freezes. */
export interface FreezeOverride {
  override_freeze?: boolean | undefined
  override_reason?: string | undefined
}

/** What freezes say of a plan that this caller would start at the moment at which they were read. */
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

/** Asking for an override is refused to others even where nothing is frozen: it must never be silently ignored. */
export function checkOverride(caller: Caller, { override_freeze, override_reason }: FreezeOverride): void {
  if (!override_freeze) return
  if (!caller.roles.includes('admin')) throw insufficientPermissions('to override freezes, which the role admin has')
  if (override_reason === undefined) {
    throw validationProblem([{ path: '/override_reason', message: 'is required with override_freeze' }])
  }
}

/**
 * The override that the dispatcher is to record, or null.
 * @throws Problem DEPLOYMENT_FROZEN where freezes block the plan and this caller may not, or did not, override them
 */
export function passFreezes(
  { blocked, active_freezes, can_override }: FreezeVerdict,
  { override_freeze = false, override_reason = '' }: FreezeOverride,
): { reason: string } | null {
  if (blocked) throw frozen(active_freezes, can_override)
  return override_freeze ? { reason: override_reason } : null
}

/** What a preview says of the freezes in force. */
export function freezeWarnings({ blocked, active_freezes }: FreezeVerdict): string[] {
  const what = blocked ? 'blocks this deployment' : 'is overridden and stays in force'
  return active_freezes.map(({ name, ends_at, target_ids }) => {
    const through = target_ids === undefined ? '' : ` (by ${target_ids.length} of its targets)`
    return `Freeze "${name}"${through} ${what} until ${ends_at}`
  })
}
