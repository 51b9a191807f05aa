import {
  concernPlaces,
  type FreezeSubject,
  type MaybeSelector,
  type Plan,
  type Subject,
  type TargetPlace,
} from '@slipway/domain'
import {
  type CheckRequest,
  groupBlockersOf,
  type Instance,
  instancesOf,
  type OlderRequest,
  type PoolUser,
  type Request,
  type RequestedTarget,
  type Snapshot,
  type StartRequest,
  type TargetState,
  type Terms,
} from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { type Actor, readSubjects } from '../access/subjects.ts'
import type { Queryable, RowOf } from '../sql/statement.ts'
import { findFacts, type GroupRow, type Orphan } from './facts.sql.ts'
import { type FreezesNow, readFreezes } from './freezes.ts'
import { findInstances } from './instances.sql.ts'
import {
  findFirsts,
  findHeads,
  findOlder,
  findPending,
  findPlaces,
  findStatus,
  findWaitedFor,
  findWanted,
} from './queue.sql.ts'
import { findDue } from './rules.sql.ts'
import { newTerms, rulesById, storedTerms, withRuleFacts } from './rules.ts'
import { countRunningChecks, findDueChecks } from './runs.sql.ts'

/** The most requests of a round, and the most targets that they want. */
const MOST_REQUESTS = 500
const MOST_TARGETS = 20_000
/** The most bytes of stored commands in a round. A few large plans fill it. */
const MOST_BYTES = 1_500_000
/** The most steps that one round writes while no other dispatcher can decide. A larger plan is written before its round. */
export const MOST_STEPS = 1_000
const MOST_CHECKS = 500
/** More of a tenant cannot start at once. */
const CHECKS_OF_POOL = 2
const SLOTS_FOR_CHECKS = 16

/** A request to start that is not stored yet. */
export interface NewRequest {
  id: string
  deadline: Date | null
  plan: Plan
  caller: FreezeSubject['caller'] & { user_id: string; key_id?: string; has_scope?: boolean }
  /** Whether the caller overrides freezes. */
  override: boolean
  rules: { override: boolean; start_at: Date | null; expires_at: Date | null }
}

export interface RoundReading {
  arrivals: readonly NewRequest[]
  /** Deployments that lost their instance and cannot go on now. */
  heldOrphans: readonly string[]
  /** Deployments whose rows this transaction has written already. They do not run yet. */
  prepared?: readonly string[]
  /** Which checks of drift are decided: those that are due by this interval, or given ones. */
  checks?: { every: number } | { given: readonly CheckRequest[] } | null
  /** Pending requests that are decided although the round does not need them. */
  named?: readonly string[]
  /** Whether the taken slots of each instance are counted, even if no decision needs it. */
  exact?: boolean
}

/** What the engine needs to decide about a round. */
export interface ReadRound {
  snapshot: Snapshot
  requests: Request[]
  /** How many steps each pending request has. */
  steps: ReadonlyMap<string, number>
  /** The pending requests that were due for a look. */
  due: ReadonlySet<string>
}

/**
 * Reads a snapshot, and the requests that can matter: the new ones, deployments that lost their instance, and of the pending requests
 * those that are due for a look, and the first ones of each group that no freeze, pool or limit holds back. Requests that are frozen,
 * locked or parked hide no other. Takes two round trips, or one if nothing is pending and no target has a policy. A third one reads
 * approvals and promotions, if rules of environments ask for them.
 */
export async function readRound(db: Queryable, reading: RoundReading): Promise<ReadRound> {
  const { arrivals, heldOrphans, prepared = [], checks = null, named = [], exact = false } = reading
  const isAskedForChecks = checks !== null
  const [{ freezes, now }, facts, instances, statuses, authors, runningChecks, dueChecks, due] = await Promise.all([
    readFreezes(db),
    findFacts.one(db, { prepared, held_orphans: heldOrphans, limit: MOST_REQUESTS }),
    readInstances(db, {
      // Parked requests are not counted with the queue. Without slots for them, a free pool would look full.
      requested: arrivals.length + named.length + (isAskedForChecks ? SLOTS_FOR_CHECKS : 0),
      most: MOST_REQUESTS,
      exact,
    }),
    readStatus(db, arrivals, prepared),
    readScopedAuthors(db, arrivals),
    isAskedForChecks ? countRunningChecks.all(db, { except: prepared }) : [],
    readChecks(db, checks),
    readDue(db),
  ])
  const { any_policy, groups } = facts
  const orphans = resumable(instances, facts.orphans ?? [])
  const seen: Snapshot = {
    ...snapshotOf({ freezes, now }, facts, instances),
    readUpTo: orphans.length > MOST_REQUESTS ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY,
    runningChecks: new Map(runningChecks.map((row) => [row.tenant_id ?? '', row.running])),
  }
  const open = (groups ?? []).map(groupOf).filter((group) => groupBlockersOf(seen, group, now).length === 0)
  const [places, requested, pending, others] = await Promise.all([
    readPlaces(db, arrivals, placesMatter(seen) || authors.size > 0),
    any_policy && arrivals.length > 0 ? readWanted(db, arrivals, open) : null,
    readPending(db, seen, open),
    readNamed(db, [...new Set([...due, ...named])], open),
  ])
  const starts = arrivals.map((arrival, index) => {
    const status = statuses[index]
    if (status === undefined) throw new Error(`The status of command ${arrival.id} was not read`)
    return newStart(arrival, {
      status,
      now,
      places: places[index] ?? [],
      requested: requested?.lists[index],
      author: arrival.caller.has_scope === true ? (authors.get(arrival.id) ?? null) : 'checked',
    })
  })
  const isInTurn = new Set(pending.requests.map(({ id }) => id))
  const snapshot = {
    ...seen,
    targets: merged(requested?.states ?? seen.targets, others.states),
    readUpTo: Math.min(seen.readUpTo, pending.readUpTo),
  }
  const read = [
    ...orphans.slice(0, MOST_REQUESTS).map((orphan) => ({ kind: 'orphan' as const, ...orphan })),
    ...starts,
    ...pending.requests,
    ...others.requests.filter(({ id }) => !isInTurn.has(id)),
    ...dueChecks,
  ]
  const [{ requests, promotions }, storedAuthors] = await Promise.all([
    withRuleFacts(db, snapshot, read),
    readAuthors(db, read),
  ])
  return {
    snapshot: { ...snapshot, promotions },
    requests: requests.map((request) => {
      const author = storedAuthors.get(request.id)
      return request.kind === 'start' && author !== undefined ? { ...request, author } : request
    }),
    steps: new Map([...others.steps, ...pending.steps]),
    due,
  }
}

export const readInstances = (db: Queryable, asked: { requested: number; most: number; exact: boolean }) =>
  findInstances.all(db, { version: COMPATIBLE_VERSION, ...asked })

/** A snapshot in which nobody wants a target and no check runs. */
export const snapshotOf = (
  { freezes, now }: FreezesNow,
  { tenant_limit, running, rules }: RowOf<typeof findFacts>,
  instances: readonly Instance[],
): Snapshot => ({
  now,
  freezes,
  instances,
  tenantLimit: tenant_limit,
  running: new Map(Object.entries(running ?? {})),
  rules: rulesById(rules),
  promotions: new Map(),
  targets: new Map(),
  readUpTo: Number.POSITIVE_INFINITY,
  runningChecks: new Map(),
})

async function readChecks(db: Queryable, checks: RoundReading['checks']): Promise<readonly CheckRequest[]> {
  if (checks == null) return []
  if ('given' in checks) return checks.given
  const rows = await findDueChecks.all(db, { every: checks.every, each: CHECKS_OF_POOL, limit: MOST_CHECKS })
  return rows.map(({ deployment_id, ...row }) => ({ kind: 'check', id: deployment_id, ...row }))
}

// --- new requests --------------------------------------------------------------------------------------------------

type Status = RowOf<typeof findStatus>

function readStatus(db: Queryable, arrivals: readonly NewRequest[], prepared: readonly string[]): Promise<Status[]> {
  if (arrivals.length === 0) return Promise.resolve([])
  return findStatus.all(db, {
    commands: arrivals.map(({ id, deadline, plan }) => ({ id, deadline, priority: plan.options.priority })),
    prepared,
  })
}

/** States of targets that were read twice, with the reservations of both. */
function merged(
  one: ReadonlyMap<string, TargetState>,
  other: ReadonlyMap<string, TargetState>,
): ReadonlyMap<string, TargetState> {
  const states = new Map(one)
  for (const [id, state] of other) {
    const { reservations = [] } = states.get(id) ?? {}
    states.set(id, { ...state, reservations: [...reservations, ...state.reservations] })
  }
  return states
}

/** Whether it matters in which tenants and environments the targets of a request are: a rule or a freeze asks for it. */
export const placesMatter = ({ freezes, rules }: Pick<Snapshot, 'freezes' | 'rules'>) =>
  rules.size > 0 || concernPlaces(freezes.all)

/** The places of the targets. Empty if they do not matter. */
async function readPlaces(db: Queryable, arrivals: readonly NewRequest[], matter: boolean): Promise<TargetPlace[][]> {
  if (arrivals.length === 0 || !matter) return []
  const lists = arrivals.map(({ plan }) => plan.targets.map(({ id }) => id))
  const rows = await findPlaces.all(db, {
    targets: lists.flatMap((ids, list) => ids.map((target_id) => ({ list, target_id }))),
  })
  const places: TargetPlace[][] = lists.map(() => [])
  for (const { list, ...place } of rows) places[list]?.push(place)
  return places
}

interface RequestedTargets {
  targets: RequestedTarget[]
  older: OlderWithPlace[]
}

interface OlderWithPlace extends OlderRequest {
  environment_id: string | null
}

async function readWanted(
  db: Queryable,
  arrivals: readonly NewRequest[],
  open: readonly Group[],
): Promise<{ lists: RequestedTargets[]; states: Map<string, TargetState> }> {
  const asked = arrivals.map(({ plan }) => ({
    tenant_id: plan.tenant?.id ?? null,
    source_id: plan.source.id,
    priority: plan.options.priority,
    target_ids: plan.targets.map(({ id }) => id),
  }))
  const [rows, older] = await Promise.all([
    findWanted.all(db, { lists: asked, open: open.map(({ key }) => key) }),
    findOlder.all(db, { lists: asked }),
  ])
  const lists: RequestedTargets[] = arrivals.map(() => ({ targets: [], older: [] }))
  const states = new Map<string, TargetState>()
  for (const row of rows) {
    const { list, id, name, policy } = row
    if (policy !== 'allow') lists[list - 1]?.targets.push({ id, name, policy })
    states.set(id, withKeepers(states.get(id), row))
  }
  for (const { list, id, environment_id, queued_at, rank } of older)
    lists[list - 1]?.older.push({ id, environment_id, queued_at, rankInItsPlace: rank })
  return { lists, states }
}

/** The state of a target with the keepers of one more row about it. */
export function withKeepers(
  known: TargetState | undefined,
  {
    holder_id,
    holder_tenant_id,
    since,
    first_id,
    first_rank,
  }: Pick<RowOf<typeof findWanted>, 'holder_id' | 'holder_tenant_id' | 'since' | 'first_id' | 'first_rank'>,
): TargetState {
  const first = first_id === null || first_rank === null ? [] : [{ request_id: first_id, rank: first_rank }]
  return {
    holder:
      holder_id === null || since === null ? null : { deployment_id: holder_id, tenant_id: holder_tenant_id, since },
    reservations: [...(known?.reservations ?? []), ...first],
  }
}

interface FactsOfNew {
  status: Status
  now: Date
  places: TargetPlace[]
  requested: RequestedTargets | undefined
  author: StartRequest['author']
}

function newStart(
  request: NewRequest,
  { status, now, places, requested = { targets: [], older: [] }, author }: FactsOfNew,
): StartRequest {
  const { id, plan, caller, override, rules } = request
  // Its targets are among those of this request. The environment that it names may be another one, outside of the rights of the author.
  const isReplaceable = ({ environment_id }: OlderWithPlace) =>
    author === 'checked' || environment_id === (plan.environment?.id ?? null)
  // A request with a start time replaces nothing: it takes no part in the queue before that time.
  const older = rules.start_at !== null && rules.start_at > now ? [] : requested.older.filter(isReplaceable)
  const { started, queued, late, rank } = status
  const tenant_id = plan.tenant?.id ?? null
  return {
    kind: 'start',
    id,
    tenant_id,
    selector: plan.instance_selector ?? null,
    rank,
    retry_at: null,
    subject: { ...freezeSubject({ plan, caller, override }), targets: places },
    targets: requested.targets,
    terms: newTerms(request, now),
    author,
    arrival: { status: started ? 'started' : queued ? 'queued' : late ? 'late' : 'new', older },
  }
}

/** What freezes match of a request, but for the places of its targets. */
export const freezeSubject = ({
  plan,
  caller: { may_override_freezes, tenant_id },
  override,
}: Pick<NewRequest, 'plan' | 'caller' | 'override'>): Omit<FreezeSubject, 'targets'> => ({
  tenant_id: plan.tenant?.id ?? null,
  environment_id: plan.environment?.id ?? null,
  solution_id: plan.source.type === 'solution' ? plan.source.id : null,
  caller: { may_override_freezes, tenant_id },
  override,
})

// --- pending requests ----------------------------------------------------------------------------------------------

export interface Group {
  key: string
  tenant_id: string | null
  subject: FreezeSubject
  selector: MaybeSelector
}

export const groupOf = ({ key, subject, selector }: GroupRow): Group => {
  return { key, subject, selector, tenant_id: subject.tenant_id }
}

interface Pending {
  requests: StartRequest[]
  readUpTo: number
  steps: Map<string, number>
}

type PendingRow = RowOf<typeof findFirsts> & { targets: RequestedTarget[] }

/** The requests of these groups that may start, in the order of the queue. */
async function readPending(db: Queryable, snapshot: Snapshot, open: readonly Group[]): Promise<Pending> {
  const rooms = open.map((group) => ({ group, most: roomOf(snapshot, group) })).filter(({ most }) => most > 0)
  if (rooms.length === 0) return { requests: [], readUpTo: Number.POSITIVE_INFINITY, steps: new Map() }
  const limit = MOST_REQUESTS
  const keys = rooms.map(({ group }) => group.key)
  const [firsts, heads] = await Promise.all([
    findFirsts.all(db, { groups: rooms.map(({ group: { key }, most }) => ({ key, most })), limit }),
    findHeads.all(db, { open: open.map(({ key }) => key), keys, limit }),
  ])
  const rows: PendingRow[] = [...firsts.map((row) => ({ ...row, targets: [] })), ...heads]
  const { taken, readUpTo } = withinBounds(rows.sort(byRank))
  const last = (of: readonly { rank: number }[]) =>
    of.length < limit ? Number.POSITIVE_INFINITY : (of.at(-1)?.rank ?? 0)
  const groups = new Map(open.map((group) => [group.key, group]))
  return {
    requests: taken.flatMap(({ key, targets, ...row }): StartRequest[] => {
      const group = groups.get(key)
      if (group === undefined) return []
      const { id, rank } = row
      const { tenant_id, subject, selector } = group
      const terms = storedTerms(row)
      const stored = { author: null, retry_at: null, arrival: null }
      return [{ kind: 'start', id, tenant_id, subject, selector, rank, targets, terms, ...stored }]
    }),
    readUpTo: Math.min(readUpTo, last(firsts), last(heads)),
    steps: new Map(taken.map(({ id, steps }) => [id, steps])),
  }
}

/** How many requests of a group can start: no more than its tenant may run, and than slots are free in its pool. */
function roomOf({ tenantLimit, running, instances }: Snapshot, group: Group): number {
  const { tenant_id } = group
  const room = tenantLimit === null || tenant_id === null ? MOST_REQUESTS : tenantLimit - (running.get(tenant_id) ?? 0)
  return Math.min(room, freeSlots(instances, group), MOST_REQUESTS)
}

/** The first orphans of each pool, as many as it has free slots. The others cannot go on now, and hide no request that may start. */
function resumable(instances: readonly Instance[], orphans: readonly Orphan[]): Orphan[] {
  const left = new Map<string, number>()
  return orphans.filter((orphan) => {
    const pool = JSON.stringify([orphan.tenant_id, orphan.selector])
    const free = left.get(pool) ?? freeSlots(instances, orphan)
    left.set(pool, free - 1)
    return free > 0
  })
}

const freeSlots = (instances: readonly Instance[], user: PoolUser) =>
  instancesOf(instances, user).reduce((total, { free }) => total + free.length, 0)

const byRank = (one: PendingRow, other: PendingRow) =>
  one.rank - other.rank || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)

/** The first requests that one round can start, at least one. A large plan does not count: it is written before its own round. */
function withinBounds(rows: readonly PendingRow[]): { taken: PendingRow[]; readUpTo: number } {
  let [steps, bytes, targets] = [0, 0, 0]
  const taken: PendingRow[] = []
  for (const row of rows) {
    if (row.steps <= MOST_STEPS) {
      steps += row.steps
      bytes += row.size
    }
    targets += row.targets.length
    const isWithin =
      steps <= MOST_STEPS && bytes <= MOST_BYTES && targets <= MOST_TARGETS && taken.length < MOST_REQUESTS
    if (taken.length > 0 && !isWithin) return { taken, readUpTo: taken.at(-1)?.rank ?? 0 }
    taken.push(row)
  }
  return { taken, readUpTo: Number.POSITIVE_INFINITY }
}

// --- authors -------------------------------------------------------------------------------------------------------

const actorOf = ({ caller: { user_id, key_id } }: NewRequest): Actor => ({ user_id, key_id: key_id ?? null })

/** The authors of new requests whose rights depend on a scope, by id of the request. */
async function readScopedAuthors(
  db: Queryable,
  arrivals: readonly NewRequest[],
): Promise<ReadonlyMap<string, Subject | null>> {
  const scoped = arrivals.filter(({ caller }) => caller.has_scope === true)
  const subjects = await readSubjects(db, scoped.map(actorOf))
  return new Map(scoped.map(({ id }, index) => [id, subjects[index] ?? null]))
}

/** The authors of stored requests, by id of the request. An author who is not known may start nothing. */
async function readAuthors(db: Queryable, requests: readonly Request[]): Promise<ReadonlyMap<string, Subject | null>> {
  const stored = requests.flatMap((request) => (request.kind === 'start' && request.arrival === null ? [request] : []))
  const actors = new Map<string, Actor>()
  for (const { terms } of stored) {
    if (terms.author_id !== null)
      actors.set(keyOfAuthor(terms), { user_id: terms.author_id, key_id: terms.author_key_id })
  }
  const subjects = await readSubjects(db, [...actors.values()])
  const found = new Map([...actors.keys()].map((key, index) => [key, subjects[index] ?? null]))
  return new Map(
    stored.map(({ id, tenant_id, terms }) => {
      const author = found.get(keyOfAuthor(terms)) ?? null
      // Who was moved to another tenant starts nothing in the former one.
      const isOfTenant = author !== null && (author.tenant_id === null || author.tenant_id === tenant_id)
      return [id, isOfTenant ? author : null]
    }),
  )
}

const keyOfAuthor = ({ author_id, author_key_id }: Terms) => `${author_id} ${author_key_id}`

// --- requests by id ------------------------------------------------------------------------------------------------

/** The due requests that one round can start. The others stay due for the next one. */
async function readDue(db: Queryable): Promise<ReadonlySet<string>> {
  let steps = 0
  const rows = await findDue.all(db, { limit: MOST_REQUESTS })
  const due = rows.filter((row) => {
    if (row.steps > MOST_STEPS) return true
    steps += row.steps
    return steps <= MOST_STEPS
  })
  return new Set(due.map(({ id }) => id))
}

interface Named {
  requests: StartRequest[]
  states: Map<string, TargetState>
  steps: Map<string, number>
}

/** Pending requests by id, with the targets that they want. Those that do not wait any more are left out. */
async function readNamed(db: Queryable, ids: readonly string[], open: readonly Group[]): Promise<Named> {
  if (ids.length === 0) return { requests: [], states: new Map(), steps: new Map() }
  const keys = open.map(({ key }) => key)
  const [rows, targets] = await Promise.all([findPending.all(db, { ids }), findWaitedFor.all(db, { ids, open: keys })])
  const wanted = new Map<string, RequestedTarget[]>()
  const states = new Map<string, TargetState>()
  for (const row of targets) {
    const { id, name, policy, request_ids } = row
    states.set(id, withKeepers(states.get(id), row))
    // A queued request still waits for a target whose policy has become `allow`.
    const target = { id, name, policy: policy === 'allow' ? 'queue' : policy } as const
    for (const request of request_ids) wanted.set(request, [...(wanted.get(request) ?? []), target])
  }
  return {
    states,
    steps: new Map(rows.map(({ id, steps }) => [id, steps])),
    requests: rows.map((row) => storedRequest(row, wanted.get(row.id) ?? [])),
  }
}

/** A pending request with the targets that it locks, without its author and approvals. */
export function storedRequest(row: RowOf<typeof findPending>, targets: readonly RequestedTarget[]): StartRequest {
  const { id, rank, subject, selector, retry_at } = row
  const { tenant_id } = subject
  const stored = { author: null, retry_at, arrival: null }
  return { kind: 'start', id, tenant_id, subject, selector, rank, targets, terms: storedTerms(row), ...stored }
}
