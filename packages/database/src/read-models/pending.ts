import type { Blocker, Static } from '@slipway/contracts'
import {
  type Approver,
  aboutToStart,
  admit,
  approvalRules,
  approvalsExpireAt,
  blockersIn,
  canApprove,
  type Decision,
  earliestStart,
  explain,
  poolState,
  rulesFor,
  type ShownBlocker,
  type Snapshot,
  shownApproval,
  shownPool,
  shownRule,
  type Viewer,
} from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { LOST_AFTER_SECONDS } from '../snapshot/fragments.ts'
import { readShown } from '../snapshot/read-shown.ts'
import type { Queryable, RowOf } from '../sql/statement.ts'
import { ALL_TENANTS, seeTenant } from '../tenant.ts'
import type { findRequests, PendingItem } from './pending.sql.ts'
import { readRunSeconds } from './run-time.ts'

/** Who reads pending requests. A reader who is no user approves nothing. */
export type PendingViewer = Viewer & { approver?: Approver }

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
  viewer: PendingViewer,
  reading: Promise<PendingRow[]>,
): Promise<PendingItem[]> {
  const rows = await reading
  const ids = rows.filter(({ request }) => request.status === 'pending').map(({ request }) => request.id)
  if (ids.length === 0) return rows.map(({ request }) => request)
  const [, round] = await Promise.all([seeTenant.run(tx, { tenant: ALL_TENANTS }), readNextRound(tx, ids)])
  await seeTenant.run(tx, { tenant: viewer.tenant_id ?? ALL_TENANTS })
  return rows.map((row) => {
    const decision = round.decisions.get(row.request.id)
    const item = { ...row.request, ...waitingOf(row, round, viewer) }
    if (decision?.is !== 'wait' || !decision.isParked) return item
    // It has no place in the queue.
    const { position: _, ...parked } = item
    return parked
  })
}

/** What a request of the queue waits for first. */
export interface WaitingItem {
  waiting_for: ShownBlocker['code']
  /** Of the instances that it needs, if it waits for these; null: any. */
  pool_name: string | null
  source_name: string
  estimated_start: Date | null
}

/** The same as `pendingItems`, with no more than what these requests wait for. Those that have left the queue are left out. */
export async function waitingItems(
  tx: Queryable,
  viewer: PendingViewer,
  reading: Promise<PendingRow[]>,
): Promise<WaitingItem[]> {
  const rows = await reading
  if (rows.length === 0) return []
  const ids = rows.map(({ request }) => request.id)
  const [, round] = await Promise.all([seeTenant.run(tx, { tenant: ALL_TENANTS }), readNextRound(tx, ids)])
  await seeTenant.run(tx, { tenant: viewer.tenant_id ?? ALL_TENANTS })
  return rows.flatMap((row) => {
    const decision = round.decisions.get(row.request.id)
    if (decision === undefined) return []
    const { first, pool } = explained(row, decision, round, viewer)
    const isForPool = row.selector !== null && (first.code === 'capacity' || first.code === 'instance_pool')
    return [
      {
        waiting_for: first.code,
        pool_name: isForPool ? pool.name : null,
        source_name: row.request.source_name,
        estimated_start: estimatedStart(first),
      },
    ]
  })
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
  | 'approvals'
  | 'can_approve'
>

/** Empty for a request that does not wait, or has left the queue since its row was read. */
function waitingOf(row: PendingRow, round: NextRound, viewer: PendingViewer): Waiting {
  const { request, selector, pool_position: position } = row
  const { snapshot, decisions } = round
  const decision = decisions.get(request.id)
  if (request.status !== 'pending' || decision === undefined) return {}
  const { now } = snapshot
  const { blockers, first, pool } = explained(row, decision, round, viewer)
  const { held_targets = [] } = first.details
  const estimated = estimatedStart(first)
  return {
    waiting_for: first.code,
    waiting_reason: first.message,
    ...(held_targets.length > 0 ? { held_targets } : {}),
    blockers: blockers.map(blockerItem),
    earliest_start: earliestStart(blockers, now)?.toISOString() ?? null,
    ...(selector === null || position === null ? {} : { instance_pool: { ...shownPool(pool), selector, position } }),
    ...approvalsOf(snapshot, decision, viewer.approver),
    ...(estimated === null ? {} : { estimated_start: plainTime(estimated) }),
  }
}

type FirstBlocker = ReturnType<typeof aboutToStart>

/** All that keeps a request from starting, the first of it, and the instances that it needs. */
function explained(
  { tenant_id, tenant_name, selector, pool_position: position }: PendingRow,
  decision: Decision,
  { snapshot: { now, instances }, runSeconds }: NextRound,
  viewer: PendingViewer,
): { blockers: ShownBlocker[]; first: FirstBlocker; pool: ReturnType<typeof poolState> } {
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
  return { blockers, first: blockers[0] ?? aboutToStart(pool, now), pool }
}

/** When a request that waits for a slot probably starts. */
const estimatedStart = ({ code, until }: FirstBlocker): Date | null => (code === 'capacity' ? until : null)

/** The approvals that rules ask for, and whether the viewer may give one. */
function approvalsOf(
  snapshot: Snapshot,
  { request }: Decision,
  approver: Approver | undefined,
): Pick<Waiting, 'approvals' | 'can_approve'> {
  if (request.kind !== 'start') return {}
  const rules = rulesFor(snapshot, request)
  const asking = approvalRules(rules, request)
  const expires_at = approvalsExpireAt(rules, request)
  if (expires_at === null) return { can_approve: false }
  const given = request.terms.approvals
  return {
    approvals: { rules: asking.map(shownRule), given: given.map(shownApproval), expires_at: expires_at.toISOString() },
    can_approve: approver !== undefined && canApprove(rules, request, approver),
  }
}

/** A blocker as previews and pending requests have it. */
export const blockerItem = ({ until, ...blocker }: ShownBlocker): Static<typeof Blocker> => ({
  ...blocker,
  until: until?.toISOString() ?? null,
})

/** In the format of the other times of an item. */
const plainTime = (time: Date) => time.toISOString().slice(0, 19).replace('T', ' ')
