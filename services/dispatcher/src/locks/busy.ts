import type { CommandBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { conflict, type Problem } from '@slipway/domain'
import { readHolders, targetHeld } from '@slipway/views'
import { idsOf, isFree, type LockedTargets } from './locks.ts'

/** The most targets that a refusal names. */
const NAMED = 20

/** The refusal of a deployment for targets with the policy `reject` that are not free. Null if there are none. */
export async function targetsBusy(
  tx: Queryable,
  { plan, caller }: CommandBody<'deployment.start'>,
  locks: readonly LockedTargets[],
): Promise<Problem | null> {
  const busy = locks.filter((targets) => targets.policy === 'reject' && !isFree(targets))
  if (busy.length === 0) return null
  const held = idsOf(busy.filter(({ held }) => held))
  const [holders = []] = await readHolders(tx, [{ target_ids: held, tenant_id: caller.tenant_id }], NAMED)
  const names = new Map(plan.targets.map(({ id, name }) => [id, name]))
  const reserved = idsOf(busy.filter(({ held }) => !held))
    .slice(0, NAMED)
    .map((target_id) => ({ target_id, target_name: names.get(target_id) ?? '' }))
  const [first] = holders
  const message =
    first === undefined
      ? `A pending request comes first for the target "${reserved[0]?.target_name}"`
      : targetHeld(first)
  const count = idsOf(busy).length
  const more = count > 1 ? `, and ${count - 1} more of its targets are not free` : ''
  return conflict(`${message}${more}: its policy is to refuse. Try again later, or change the policy`, {
    held_targets: holders.map(({ policy: _, ...holder }) => holder),
    reserved_targets: reserved,
  })
}
