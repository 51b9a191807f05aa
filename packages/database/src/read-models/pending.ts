import type { Blocker, Static } from '@slipway/contracts'
import {
  aboutToStart,
  admit,
  blockersIn,
  type Decision,
  earliestStart,
  explain,
  poolState,
  type ShownBlocker,
  type Snapshot,
  shownPool,
  type Viewer,
} from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { LOST_AFTER_SECONDS } from '../snapshot/fragments.ts'
import { readShown } from '../snapshot/read-shown.ts'
import type { Queryable, RowOf } from '../sql/statement.ts'
import { ALL_TENANTS, seeTenant } from '../tenant.ts'
import type { findRequests, PendingItem } from './pending.sql.ts'
import { readRunSeconds } from './run-time.ts'

type PendingRow = RowOf<typeof findRequests>

/** What the next round decides, and what its explanation needs besides. */
interface NextRound {
  snapshot: Snapshot
  decisions: ReadonlyMap<string, Decision>
  runSeconds: number | null
}

/**
 * The items of these requests, with what keeps each from starting: what the next round would decide. `tx` must be a transaction. Its
 * rows are those that the viewer sees. The decision needs the rows of all tenants; the explanation leaves out what the viewer may not see.
 */
export async function pendingItems(
  tx: Queryable,
  viewer: Viewer,
  reading: Promise<PendingRow[]>,
): Promise<PendingItem[]> {
  const rows = await reading
  const ids = rows.filter(({ position }) => position !== null).map(({ request }) => request.id)
  if (ids.length === 0) return rows.map(({ request }) => request)
  const [, round] = await Promise.all([seeTenant.run(tx, { tenant: ALL_TENANTS }), readNextRound(tx, ids)])
  await seeTenant.run(tx, { tenant: viewer.tenant_id ?? ALL_TENANTS })
  return rows.map((row) => ({ ...row.request, ...waitingOf(row, round, viewer) }))
}

async function readNextRound(tx: Queryable, pending: readonly string[]): Promise<NextRound> {
  const [runSeconds, { snapshot, requests }] = await Promise.all([
    readRunSeconds(tx),
    readShown(tx, { pending, arrivals: [] }),
  ])
  const decisions = admit(snapshot, requests, snapshot.now)
  return { snapshot, decisions: new Map(decisions.map((each) => [each.request.id, each])), runSeconds }
}

type Waiting = Pick<
  PendingItem,
  | 'waiting_for'
  | 'waiting_reason'
  | 'held_targets'
  | 'blockers'
  | 'earliest_start'
  | 'instance_pool'
  | 'estimated_start'
>

/** Empty for a request that does not wait, or has left the queue since its row was read. */
function waitingOf(
  { request, tenant_id, tenant_name, selector, pool_position: position }: PendingRow,
  { snapshot: { now, instances }, decisions, runSeconds }: NextRound,
  viewer: Viewer,
): Waiting {
  const decision = decisions.get(request.id)
  if (position === null || decision === undefined) return {}
  const blockers = explain(blockersIn(decision), {
    viewer,
    now,
    tenant_name,
    position,
    runSeconds,
    version: COMPATIBLE_VERSION,
    lostAfterSeconds: LOST_AFTER_SECONDS,
  })
  const pool = poolState(instances, { tenant_id, selector })
  const first = blockers[0] ?? aboutToStart(pool, now)
  const { held_targets = [] } = first.details
  return {
    waiting_for: first.code,
    waiting_reason: first.message,
    ...(held_targets.length > 0 ? { held_targets } : {}),
    blockers: blockers.map(blockerItem),
    earliest_start: earliestStart(blockers, now)?.toISOString() ?? null,
    ...(selector === null ? {} : { instance_pool: { ...shownPool(pool), selector, position } }),
    ...(first.code === 'capacity' && first.until !== null ? { estimated_start: plainTime(first.until) } : {}),
  }
}

/** A blocker as previews and pending requests have it. */
export const blockerItem = ({ until, ...blocker }: ShownBlocker): Static<typeof Blocker> => ({
  ...blocker,
  until: until?.toISOString() ?? null,
})

/** In the format of the other times of an item. */
const plainTime = (time: Date) => time.toISOString().slice(0, 19).replace('T', ' ')
