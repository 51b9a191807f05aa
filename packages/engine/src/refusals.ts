import { type ActiveFreeze, canOverride, conflict, frozen, Problem, validationProblem } from '@slipway/domain'
import { authorProblem } from './author.ts'
import type { Blocker, BlockingFreeze } from './blockers.ts'
import { notPromoted, windowsAreOver } from './endings.ts'
import { byHoldingTime, type ShownHolder, shownHolder, targetHeld } from './holders.ts'
import { judgedAt, type MissingPromotion } from './rules.ts'
import type { RequestedTarget, StartRequest } from './snapshot.ts'

/** The most targets that a refusal names. */
const NAMED = 20

/** The refusal of a new deployment that must not wait for what blocks it. Null if it may wait, or start. */
export const refusalOf = (request: StartRequest, blockers: readonly Blocker[], now: Date): Problem | null =>
  authorProblem(request) ??
  overdue(request, now) ??
  withoutWindow(blockers) ??
  unpromoted(blockers) ??
  (judgedAt(request, now) > now ? null : deploymentFrozen(request, blockers)) ??
  targetsBusy(request, blockers)

function overdue({ terms: { expires_at } }: StartRequest, now: Date): Problem | null {
  if (expires_at === null || expires_at > now) return null
  return validationProblem([{ path: '/expires_at', message: 'is over: give a later moment' }])
}

function withoutWindow(blockers: readonly Blocker[]): Problem | null {
  const window = blockers.find((blocker) => blocker.code === 'window')
  if (window === undefined || !window.isOver) return null
  const environments = window.environments.map(({ environment_id, environment_name, windows }) => {
    return { environment_id, environment_name, windows }
  })
  return conflict(windowsAreOver(window), { environments })
}

function unpromoted(blockers: readonly Blocker[]): Problem | null {
  const promotion = blockers.find((blocker) => blocker.code === 'promotion')
  const rule = promotion?.rules.find(({ ready_at }) => ready_at === null) ?? promotion?.rules[0]
  if (rule === undefined) return null
  return new Problem('NOT_PROMOTED', notPromoted(rule), { ...shownPromotion(rule) })
}

/** What is missing of a promotion, as answers show it. */
export interface ShownPromotion {
  from_environment_id: string
  from_environment_name: string
  version: string
  versions: { version: string; targets: number }[]
  drifted_targets: number
  since: string | null
  ready_at: string | null
}

export function shownPromotion({
  from_environment_id,
  from_environment_name,
  source,
  state,
  ready_at,
}: MissingPromotion): ShownPromotion {
  return {
    from_environment_id,
    from_environment_name,
    version: source.version,
    versions: state.versions.map(({ version, targets }) => ({ version, targets })),
    drifted_targets: state.drifted,
    since: state.since?.toISOString() ?? null,
    ready_at: ready_at?.toISOString() ?? null,
  }
}

function deploymentFrozen({ subject }: StartRequest, blockers: readonly Blocker[]): Problem | null {
  const freeze = blockers.find((blocker) => blocker.code === 'freeze')
  if (freeze === undefined) return null
  return frozen(freeze.freezes.map(withoutTenant), canOverride(subject.caller, freeze.freezes))
}

export const withoutTenant = ({ tenant_id: _, ...freeze }: BlockingFreeze): ActiveFreeze => freeze

/** For targets with the policy `reject` that are not free. */
function targetsBusy(request: StartRequest, blockers: readonly Blocker[]): Problem | null {
  const busy = busyTargets(request, blockers)
  if (busy === null) return null
  const { held, reserved, message } = busy
  const count = held.length + reserved.length
  const more = count > 1 ? `, and ${count - 1} more of its targets are not free` : ''
  return conflict(`${message}${more}: its policy is to refuse. Try again later, or change the policy`, {
    held_targets: held.slice(0, NAMED),
    reserved_targets: reserved.slice(0, NAMED).map(({ id, name }) => ({ target_id: id, target_name: name })),
  })
}

/** What a preview says of a deployment that would be refused for its targets. Null if it would not. */
export function targetsBusyInPreview(request: StartRequest, blockers: readonly Blocker[]): string | null {
  const busy = busyTargets(request, blockers)
  return busy === null ? null : `${busy.message}: the deployment would be refused`
}

interface BusyTargets {
  /** Those held longest first, as the caller sees them. */
  held: readonly ShownHolder[]
  reserved: readonly RequestedTarget[]
  /** What is in the way of the first one. */
  message: string
}

function busyTargets({ subject }: StartRequest, blockers: readonly Blocker[]): BusyTargets | null {
  const lock = blockers.find((blocker) => blocker.code === 'target_lock')
  const reserved = lock?.reserved.filter(isRejecting) ?? []
  const held = (lock?.held.filter(isRejecting) ?? [])
    .sort(byHoldingTime)
    .map((target) => shownHolder(target, subject.caller.tenant_id))
  const [holder, reservation] = [held[0], reserved[0]]
  if (holder !== undefined) return { held, reserved, message: targetHeld(holder) }
  if (reservation === undefined) return null
  return { held, reserved, message: `A pending request comes first for the target "${reservation.name}"` }
}

const isRejecting = ({ policy }: RequestedTarget) => policy === 'reject'
