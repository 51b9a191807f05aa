import { type ActiveFreeze, judgeFreezes, type Problem } from '@slipway/domain'
import { type Blocker, blockersOf, isParked, ownBlockersOf, reserves } from './blockers.ts'
import { Bookings, type Slot } from './bookings.ts'
import { type Ending, endingOf, reviewAt } from './endings.ts'
import { refusalOf } from './refusals.ts'
import { judgedAt, type PassedRules, passedRules, rulesFor } from './rules.ts'
import { type CheckRequest, isNew, type Request, type Snapshot, type StartRequest } from './snapshot.ts'

export type Decision = Start | Wait | End | Refuse | Known | Dropped

export interface Start {
  is: 'start'
  request: Request
  slot: Slot
  /** The pending requests that it replaces. */
  supersedes: readonly string[]
  /** Since when the oldest of them waited; null: it replaces none. The request takes over this place. */
  queued_at: string | null
  /** The freezes that its caller overrides. */
  overridden: readonly ActiveFreeze[]
  /** The rules that its caller overrides. */
  passed: readonly PassedRules[]
}

export interface Wait {
  is: 'wait'
  request: Request
  /** All reasons, in the order in which they are shown. */
  blockers: readonly Blocker[]
  supersedes: readonly string[]
  queued_at: string | null
  overridden: readonly ActiveFreeze[]
  passed: readonly PassedRules[]
  /** Whether it has no place in the queue: it waits for its time, a person or another environment. */
  isParked: boolean
  /** The next moment at which it must be judged although nobody changes anything; null: none. */
  review_at: Date | null
}

/** A stored request that starts no more. */
export interface End extends Ending {
  is: 'end'
  request: StartRequest
}

/** Only new requests are refused. */
export interface Refuse {
  is: 'refuse'
  request: StartRequest
  problem: Problem
  /** All that is in its way: also what would keep it waiting without the reason of the refusal. */
  blockers: readonly Blocker[]
}

/** An earlier copy of the command was carried out. */
export interface Known {
  is: 'known'
  request: StartRequest
  outcome: 'started' | 'queued'
}

/** The deadline of the command is over. It has no effect. */
export interface Dropped {
  is: 'dropped'
  request: StartRequest
}

/**
 * Decides about requests in their order: deployments that lost their instance, then starts by rank, then checks. Each request that
 * starts books its slot, its targets and the room of its tenant. A request without a decision waits for the next round: it may be
 * replaced by another one of this round, or replace one.
 */
export function admit(snapshot: Snapshot, requests: readonly Request[], at: Date): Decision[] {
  const round = new Round(snapshot, requests, at)
  for (const request of requests) if (request.kind === 'orphan') round.decide(request)
  round.decideStarts(requests.filter((request) => request.kind === 'start'))
  round.decideChecks(requests.filter((request) => request.kind === 'check'))
  return round.decisions
}

/** What keeps the request of a decision from starting. */
export const blockersIn = (decision: Decision): readonly Blocker[] => ('blockers' in decision ? decision.blockers : [])

class Round {
  readonly decisions: Decision[] = []
  readonly #bookings: Bookings
  readonly #at: Date
  /** The new requests that may replace a pending one and are not decided yet, by id of the pending one. */
  readonly #newer = new Map<string, Set<string>>()
  readonly #superseded = new Set<string>()

  constructor(snapshot: Snapshot, requests: readonly Request[], at: Date) {
    this.#bookings = new Bookings(snapshot, requests)
    this.#at = at
  }

  decideStarts(requests: readonly StartRequest[]): void {
    const open = requests.filter((request) => !this.#isAnswered(request))
    // A refused request replaces nothing.
    const refused = new Set(open.filter((request) => isNew(request) && this.#isRefusedAnyway(request)))
    const competing = withoutRivals(open.filter((request) => !refused.has(request))).map(inItsPlace)
    for (const { id, arrival } of competing) {
      for (const older of arrival?.older ?? []) {
        this.#newer.set(older.id, (this.#newer.get(older.id) ?? new Set()).add(id))
      }
    }
    const inTurn = [...competing, ...refused].sort(byRank)
    for (const request of inTurn) if (!this.#mayBeReplaced(request.id)) this.decide(request)
  }

  /** Tenants take turns: while a tenant without a running check has one that is due, no other tenant starts a second one. */
  decideChecks(requests: readonly CheckRequest[]): void {
    let left = requests
    for (let turn = 0; left.length > 0; turn += 1) {
      const later: CheckRequest[] = []
      for (const request of left) {
        const running = this.#bookings.snapshot.runningChecks.get(request.tenant_id ?? '') ?? 0
        if (running <= turn) this.decide(request)
        else later.push(request)
      }
      left = later
    }
  }

  decide(request: Request): void {
    const blockers = blockersOf(this.#bookings.snapshot, request, this.#at)
    if (isNew(request)) {
      const problem = refusalOf(request, blockers, this.#at)
      if (problem !== null) {
        for (const { id } of request.arrival.older) this.#newer.get(id)?.delete(request.id)
        this.decisions.push({ is: 'refuse', request, problem, blockers })
        return
      }
    }
    const ending = request.kind === 'start' && !isNew(request) ? endingOf(request, blockers, this.#at) : null
    if (request.kind === 'start' && ending !== null) {
      this.decisions.push({ is: 'end', request, ...ending })
      return
    }
    const decision = { request, ...this.#overriddenBy(request), ...this.#supersede(request) }
    if (blockers.length === 0) {
      this.decisions.push({ is: 'start', slot: this.#bookings.start(request), ...decision })
      return
    }
    if (request.kind === 'start' && reserves(blockers)) this.#bookings.reserve(request)
    const review_at = request.kind === 'start' ? this.#reviewAt(request, blockers) : null
    this.decisions.push({ is: 'wait', blockers, isParked: isParked(blockers), review_at, ...decision })
  }

  /** Decides about a new request that takes no part in the queue. */
  #isAnswered(request: StartRequest): boolean {
    if (!isNew(request)) return false
    const { status } = request.arrival
    if (status === 'late') this.decisions.push({ is: 'dropped', request })
    else if (status !== 'new') this.decisions.push({ is: 'known', request, outcome: status })
    else return false
    return true
  }

  #reviewAt(request: StartRequest, blockers: readonly Blocker[]): Date | null {
    return reviewAt(request, blockers, { at: this.#at, rules: rulesFor(this.#bookings.snapshot, request) })
  }

  /** Whether a request is refused whatever others take. */
  #isRefusedAnyway(request: StartRequest): boolean {
    return refusalOf(request, ownBlockersOf(this.#bookings.snapshot, request, this.#at), this.#at) !== null
  }

  #overriddenBy(request: Request): Pick<Start, 'overridden' | 'passed'> {
    if (!isNew(request)) return { overridden: [], passed: [] }
    const { snapshot } = this.#bookings
    const inForce = snapshot.freezes.presentAt(judgedAt(request, this.#at))
    const { blocked, active_freezes } = judgeFreezes(inForce, request.subject)
    return { overridden: blocked ? [] : active_freezes, passed: passedRules(snapshot, request, this.#at) }
  }

  #supersede(request: Request): Pick<Start, 'supersedes' | 'queued_at'> {
    const older = isNew(request) ? request.arrival.older.filter(({ id }) => !this.#superseded.has(id)) : []
    for (const { id } of older) this.#superseded.add(id)
    return {
      supersedes: older.map(({ id }) => id),
      queued_at: older.flatMap((one) => one.queued_at ?? []).sort()[0] ?? null,
    }
  }

  #mayBeReplaced(id: string): boolean {
    return this.#superseded.has(id) || (this.#newer.get(id)?.size ?? 0) > 0
  }
}

/**
 * Without new requests that may replace an earlier new one of the same round: this one is not stored yet, so that it cannot be
 * replaced before the next round.
 */
function withoutRivals(requests: readonly StartRequest[]): StartRequest[] {
  const seen = new Set<string>()
  return requests.filter((request) => {
    if (!isNew(request)) return true
    const superseding = request.targets.filter(({ policy }) => policy === 'supersede')
    const isFirst = superseding.every(({ id }) => !seen.has(id))
    for (const { id } of superseding) seen.add(id)
    return isFirst
  })
}

/** A request that replaces older ones takes over the earliest of their places. */
function inItsPlace(request: StartRequest): StartRequest {
  const places = request.arrival?.older.map(({ rankInItsPlace }) => rankInItsPlace) ?? []
  return places.length === 0 ? request : { ...request, rank: Math.min(request.rank, ...places) }
}

/** Of the same rank, stored requests come first, by id. New ones stay in the order in which they came. */
const byRank = (one: StartRequest, other: StartRequest): number =>
  one.rank - other.rank ||
  Number(isNew(one)) - Number(isNew(other)) ||
  (isNew(one) ? 0 : one.id < other.id ? -1 : one.id > other.id ? 1 : 0)
