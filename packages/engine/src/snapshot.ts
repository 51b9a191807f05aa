import type { ConcurrencyPolicy, FreezeSet, FreezeSubject, MaybeSelector } from '@slipway/domain'

/** All facts that a decision needs, as Postgres knew them at `now`. */
export interface Snapshot {
  now: Date
  /** All freezes that have not ended. */
  freezes: FreezeSet
  /** All instances that have joined. */
  instances: readonly Instance[]
  /** The most running deployments per tenant; null: no limit. */
  tenantLimit: number | null
  /** How many deployments each tenant runs. Empty without a limit. */
  running: ReadonlyMap<string, number>
  /** The targets that requests lock, by id. */
  targets: ReadonlyMap<string, TargetState>
  /**
   * Requests that come after this rank must wait: requests before them were not read. Infinity if every request that may start was
   * read.
   */
  readUpTo: number
  /** How many checks of drift each tenant runs. The empty key stands for no tenant. */
  runningChecks: ReadonlyMap<string, number>
}

export type Labels = Readonly<Record<string, string>>

/** Why an instance takes no runs: another version, no heartbeat, an order to drain, or its own report. */
export type IdleReason = 'foreign' | 'lost' | 'draining' | 'refusing'

export interface Instance {
  id: string
  name: string
  /** The only tenant that it serves; null: all. */
  tenant_id: string | null
  labels: Labels
  /** Null: it takes runs. */
  idle: IdleReason | null
  slots: number
  taken: number
  /** The numbers of free slots: at least as many as the requests of the round can use. */
  free: readonly number[]
}

/** A deployment that holds a target. */
export interface Holder {
  deployment_id: string
  tenant_id: string | null
  since: Date
}

/** A pending request that comes first for a target, and needs nothing but targets and a slot. */
export interface Reservation {
  request_id: string
  rank: number
}

export interface TargetState {
  holder: Holder | null
  /** The requests that come first for the target, in order. No request behind them can start on it before they do. */
  reservations: readonly Reservation[]
}

/** A target with a policy. A deployment locks it when it starts. */
export interface RequestedTarget {
  id: string
  name: string
  policy: Exclude<ConcurrencyPolicy, 'allow'>
}

interface AnyRequest {
  id: string
  tenant_id: string | null
  /** The labels that its instance needs. */
  selector: MaybeSelector
}

/** A deployment that is to start. */
export interface StartRequest extends AnyRequest {
  kind: 'start'
  /** Its place in the queue: the lowest first. Requests of the same rank are ordered by id. */
  rank: number
  /** What freezes match. */
  subject: FreezeSubject
  /** The targets that it locks. */
  targets: readonly RequestedTarget[]
  /** When it may be tried again after a failed dispatch. */
  retry_at: Date | null
  /** Facts of a request that is not stored yet; null for one of the queue. */
  arrival: Arrival | null
}

export interface Arrival {
  /** `started`, `queued`: an earlier copy of the command did that. `late`: the deadline of the command is over. */
  status: 'new' | 'started' | 'queued' | 'late'
  /** The pending requests of the same source and tenant that it would replace. */
  older: readonly OlderRequest[]
}

export interface OlderRequest {
  id: string
  queued_at: string
  /** The rank that the newer request has in the place of this one. */
  rankInItsPlace: number
}

/** A running deployment whose instance was lost. It goes on before any other request starts. */
export interface OrphanRequest extends AnyRequest {
  kind: 'orphan'
}

/** A check of drift that is due. Checks take the slots that no deployment needs. */
export interface CheckRequest extends AnyRequest {
  kind: 'check'
}

/** A request that is not stored yet. A copy of its command may be stored, under the same id. */
export type NewStart = StartRequest & { arrival: Arrival }

export const isNew = (request: Request): request is NewStart => request.kind === 'start' && request.arrival !== null

/** `admit` expects orphans and checks in the order in which each is due. */
export type Request = StartRequest | OrphanRequest | CheckRequest
