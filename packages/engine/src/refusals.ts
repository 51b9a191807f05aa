import { type ActiveFreeze, canOverrideFreezes, conflict, frozen, type Problem } from '@slipway/domain'
import type { Blocker, BlockingFreeze } from './blockers.ts'
import { byHoldingTime, shownHolder, targetHeld } from './holders.ts'
import type { StartRequest, WantedTarget } from './snapshot.ts'

/** The most targets that a refusal names. */
const NAMED = 20

/** The refusal of a new deployment that must not wait for what blocks it. Null if it may wait, or start. */
export const refusalOf = (request: StartRequest, blockers: readonly Blocker[]): Problem | null =>
  deploymentFrozen(request, blockers) ?? targetsBusy(request, blockers)

function deploymentFrozen({ subject }: StartRequest, blockers: readonly Blocker[]): Problem | null {
  const freeze = blockers.find((blocker) => blocker.code === 'freeze')
  if (freeze === undefined) return null
  return frozen(freeze.freezes.map(withoutTenant), canOverrideFreezes(subject.caller, freeze.freezes))
}

export const withoutTenant = ({ tenant_id: _, ...freeze }: BlockingFreeze): ActiveFreeze => freeze

/** For targets with the policy `reject` that are not free. */
function targetsBusy({ subject }: StartRequest, blockers: readonly Blocker[]): Problem | null {
  const lock = blockers.find((blocker) => blocker.code === 'target_lock')
  if (lock === undefined) return null
  const held = lock.held.filter(isRejecting).sort(byHoldingTime)
  const reserved = lock.reserved.filter(isRejecting)
  const count = held.length + reserved.length
  if (count === 0) return null
  const holders = held.slice(0, NAMED).map((target) => shownHolder(target, subject.caller.tenant_id))
  const [first] = holders
  const message =
    first === undefined ? `A pending request comes first for the target "${reserved[0]?.name}"` : targetHeld(first)
  const more = count > 1 ? `, and ${count - 1} more of its targets are not free` : ''
  return conflict(`${message}${more}: its policy is to refuse. Try again later, or change the policy`, {
    held_targets: holders,
    reserved_targets: reserved.slice(0, NAMED).map(({ id, name }) => ({ target_id: id, target_name: name })),
  })
}

const isRejecting = ({ policy }: WantedTarget) => policy === 'reject'
