import {
  activeFreezes,
  blockingFreezes,
  canOverrideFreezes,
  type Freeze,
  frozen,
  insufficientPermissions,
  type Plan,
  validationProblem,
} from '@slipway/domain'
import type { FreezesNow } from '../records/freezes.ts'
import type { Caller } from '../records/visibility.ts'

/** What a request says about freezes. */
export interface FreezeOverride {
  override_freeze?: boolean | undefined
  override_reason?: string | undefined
}

/** The freezes among these that block the plan. */
export function blockingNow(plan: Plan, { freezes, now }: FreezesNow): Freeze[] {
  return blockingFreezes(freezes, freezeScope(plan, now))
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
  planned: { plan: Plan; blocking: readonly Freeze[]; planned_at: Date },
  caller: Caller,
  { override_freeze = false, override_reason = '' }: FreezeOverride,
): { reason: string } | null {
  const { plan, blocking, planned_at } = planned
  const canOverride = canOverrideFreezes(caller.roles, caller.tenant_id, blocking)
  if (blocking.length > 0 && !(override_freeze && canOverride)) {
    throw frozen(activeFreezes(blocking, freezeScope(plan, planned_at)), canOverride)
  }
  return override_freeze ? { reason: override_reason } : null
}

function freezeScope(plan: Plan, now: Date) {
  return {
    now,
    tenant_id: plan.tenant?.id ?? null,
    environment_id: plan.environment?.id ?? null,
    solution_id: plan.source.type === 'solution' ? plan.source.id : null,
  }
}
