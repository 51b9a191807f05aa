import type { Queryable } from '@slipway/database'
import type { Problem } from '@slipway/domain'
import { targetsBusy } from '../locks/busy.ts'
import { idsOf, isFree, type LockedTargets, type Reserving, readLocks } from '../locks/locks.ts'
import { supersede } from '../locks/supersede.ts'
import { findReserving, type QueueLimits } from '../pending/queue.ts'
import type { AuthorizedStart } from './assign.ts'

/** A start whose targets are not checked yet. */
export type PermittedStart = Omit<AuthorizedStart, 'locks' | 'isBlocked' | 'superseded'>

/**
 * Finds the locks that starts need: refuses a start where the policy of a busy target says so, and cancels the older requests that
 * a start replaces. Without `limits`: no target has a policy.
 * @throws if two starts of the batch need the same target: each is to be started alone
 */
export async function checkTargets(
  tx: Queryable,
  starts: readonly PermittedStart[],
  limits: QueueLimits | null,
): Promise<(AuthorizedStart | Problem)[]> {
  const reserving = limits === null || starts.length === 0 ? null : await findReserving(tx, limits)
  const lists = reserving === null ? [] : await readLocks(tx, starts.map(rankedPlan), reserving)
  requireDistinct(lists)
  const checked: (AuthorizedStart | Problem)[] = []
  for (const [place, start] of starts.entries()) checked.push(await check(tx, start, lists[place] ?? [], reserving))
  return checked
}

async function check(
  tx: Queryable,
  start: PermittedStart,
  found: LockedTargets[],
  reserving: Reserving | null,
): Promise<AuthorizedStart | Problem> {
  const refusal = await targetsBusy(tx, start.command, found)
  if (refusal !== null) return refusal
  const superseded = await supersede(tx, start, found)
  const isStale = reserving !== null && superseded.ids.length > 0
  const [now = []] = isStale ? await readLocks(tx, [rankedPlan(start)], reserving) : [found]
  return {
    ...start,
    locks: idsOf(now),
    isBlocked: !now.every(isFree),
    superseded,
  }
}

const rankedPlan = ({ command: { plan }, rank_behind }: PermittedStart) => ({ plan, rank: rank_behind })

function requireDistinct(lists: readonly LockedTargets[][]): void {
  const targets = idsOf(lists.flat())
  if (new Set(targets).size < targets.length) throw new Error('two starts of a batch need the same target')
}
