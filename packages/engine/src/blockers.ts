import { type ActiveFreeze, type FreezeSubject, judgeFreezes } from '@slipway/domain'
import { instancesOf, type PoolState, type PoolUser, poolState, takesRuns } from './pools.ts'
import { judgedAt, type RuleBlocker, ruleBlockersOf } from './rules.ts'
import type { Holder, Instance, Request, RequestedTarget, Reservation, Snapshot, StartRequest } from './snapshot.ts'

/** A reason that keeps a request from starting. A new reason is a member here; the compiler names each place that needs it. */
export type Blocker =
  | RuleBlocker
  | { code: 'freeze'; freezes: readonly BlockingFreeze[]; until: Date }
  /** No instance that takes runs has the labels. */
  | { code: 'instance_pool'; pool: PoolState }
  /** No instance takes runs. */
  | { code: 'no_compatible_instance'; pool: PoolState }
  | { code: 'tenant_limit'; running: number; limit: number }
  /** Deployments hold these targets, or earlier requests come first for them. */
  | { code: 'target_lock'; held: readonly HeldTarget[]; reserved: readonly RequestedTarget[] }
  /** No slot is free, or requests that were not read come first. */
  | { code: 'capacity'; pool: PoolState }
  /** Its dispatch failed and is tried again later. */
  | { code: 'retry_delay'; until: Date }
  /** As many checks of drift run as may at once. */
  | { code: 'check_limit'; running: number }

export type BlockerCode = Blocker['code']

export interface BlockingFreeze extends ActiveFreeze {
  /** The tenant that the freeze belongs to; null: all. */
  tenant_id: string | null
}

export interface HeldTarget extends RequestedTarget {
  holder: Holder
}

/** A group of pending requests that freezes, pools and limits treat alike. */
export interface RequestGroup extends PoolUser {
  subject: FreezeSubject
}

/**
 * All reasons that keep a request from starting at `at`, in the order in which they are shown. None: it may start now. This is the
 * only place that decides it: `admit` starts nothing that has a blocker, and every explanation comes from here.
 */
export function blockersOf(snapshot: Snapshot, request: Request, at: Date): Blocker[] {
  switch (request.kind) {
    case 'start': {
      const own = ownBlockersOf(snapshot, request, at)
      // Of a later moment, nobody knows what is free then.
      if (judgedAt(request, at) > at) return own
      return [
        ...own,
        ...poolBlockersOf(snapshot, request),
        ...targetLock(snapshot, request),
        ...retryDelay(request, at),
        ...capacity(snapshot, request, request.rank),
      ]
    }
    case 'orphan':
      return [...instancePool(snapshot, request), ...capacity(snapshot, request, FIRST)]
    case 'check':
      return [
        ...instancePool(snapshot, request),
        ...checkLimit(snapshot, request.tenant_id),
        ...capacity(snapshot, request, LAST),
      ]
  }
}

const FIRST = Number.NEGATIVE_INFINITY
const LAST = Number.POSITIVE_INFINITY

/** The blockers that do not depend on what other requests take. A start time, rules and freezes are judged for the start time. */
export const ownBlockersOf = (snapshot: Snapshot, request: StartRequest, at: Date): Blocker[] => [
  ...ruleBlockersOf(snapshot, request, at),
  ...freeze(snapshot, request.subject, judgedAt(request, at)),
]

/**
 * The blockers that all requests of a group have in common. A request with one of them reserves nothing: it would keep others
 * waiting for a time that nobody knows.
 */
export function groupBlockersOf(snapshot: Snapshot, group: RequestGroup, at: Date): Blocker[] {
  return [...freeze(snapshot, group.subject, at), ...poolBlockersOf(snapshot, group)]
}

const poolBlockersOf = (snapshot: Snapshot, user: PoolUser): Blocker[] => [
  ...instancePool(snapshot, user),
  ...tenantLimit(snapshot, user.tenant_id),
]

/** Whether a request with these blockers keeps later requests from the targets that it wants. */
export const reserves = (blockers: readonly Blocker[]) =>
  blockers.every(({ code }) => code === 'target_lock' || code === 'capacity')

const PARKING: readonly BlockerCode[] = ['start_time', 'approval', 'window', 'promotion']

/**
 * Whether a request with these blockers has no place in the queue: it waits for its time, a person or another environment. It holds
 * nothing, and no request waits behind it.
 */
export const isParked = (blockers: readonly Blocker[]) => blockers.some(({ code }) => PARKING.includes(code))

function freeze({ freezes }: Snapshot, subject: FreezeSubject, at: Date): Blocker[] {
  const inForce = freezes.presentAt(at)
  const { blocked, active_freezes } = judgeFreezes(inForce, subject)
  if (!blocked) return []
  const tenants = new Map(inForce.map(({ id, tenant_id }) => [id, tenant_id]))
  const blocking = active_freezes.map((each) => ({ ...each, tenant_id: tenants.get(each.id) ?? null }))
  const until = new Date(Math.max(...active_freezes.map(({ ends_at }) => new Date(ends_at).getTime())))
  return [{ code: 'freeze', freezes: blocking, until }]
}

function instancePool({ instances }: Snapshot, user: PoolUser): Blocker[] {
  if (instancesOf(instances, user).some(hasSlots)) return []
  const pool = poolState(instances, user)
  return [{ code: user.selector === null ? 'no_compatible_instance' : 'instance_pool', pool }]
}

const hasSlots = (instance: Instance) => takesRuns(instance) && instance.slots > 0

function tenantLimit({ tenantLimit: limit, running }: Snapshot, tenantId: string | null): Blocker[] {
  if (limit === null || tenantId === null) return []
  const count = running.get(tenantId) ?? 0
  return count < limit ? [] : [{ code: 'tenant_limit', running: count, limit }]
}

function targetLock({ targets }: Snapshot, request: StartRequest): Blocker[] {
  const held: HeldTarget[] = []
  const reserved: RequestedTarget[] = []
  for (const target of request.targets) {
    const state = targets.get(target.id)
    if (state === undefined) continue
    if (state.holder !== null) held.push({ ...target, holder: state.holder })
    else if (state.reservations.some((reservation) => comesBefore(reservation, request))) reserved.push(target)
  }
  return held.length + reserved.length === 0 ? [] : [{ code: 'target_lock', held, reserved }]
}

function comesBefore({ request_id, rank }: Reservation, { id, arrival, rank: own }: StartRequest): boolean {
  if (request_id === id || arrival?.older.some((older) => older.id === request_id)) return false
  // Of the same rank, stored requests come before new ones.
  return rank < own || (rank === own && (arrival !== null || request_id < id))
}

const retryDelay = ({ retry_at }: StartRequest, at: Date): Blocker[] =>
  retry_at === null || retry_at <= at ? [] : [{ code: 'retry_delay', until: retry_at }]

/** Without an instance that takes runs, `instancePool` is the reason: no slot is taken then. */
function capacity({ instances, readUpTo }: Snapshot, user: PoolUser, rank: number): Blocker[] {
  const serving = instancesOf(instances, user).filter(hasSlots)
  if (serving.length === 0 || (rank <= readUpTo && serving.some(({ free }) => free.length > 0))) return []
  return [{ code: 'capacity', pool: poolState(instances, user) }]
}

/** Each check takes a slot that deployments may need soon. */
const MOST_CHECKS = 4
const MOST_CHECKS_OF_TENANT = 2
/** Slow checks of some tenants must not stop the checks of others: the first check of a tenant has this limit instead. */
const MOST_WITH_FIRST_CHECKS = 16

function checkLimit({ runningChecks }: Snapshot, tenantId: string | null): Blocker[] {
  const running = [...runningChecks.values()].reduce((total, count) => total + count, 0)
  const own = runningChecks.get(tenantId ?? '') ?? 0
  const isBelow = own < MOST_CHECKS_OF_TENANT && running < (own === 0 ? MOST_WITH_FIRST_CHECKS : MOST_CHECKS)
  return isBelow ? [] : [{ code: 'check_limit', running }]
}
