import type {
  ConcurrencyPolicy,
  EnvironmentRules,
  FreezeSet,
  FreezeSubject,
  MaybeSelector,
  SourceType,
  Subject,
} from '@slipway/domain'

/** All facts that a decision needs, as Postgres knew them at `now`. */
export interface Snapshot {
  now: Date
  /** All freezes that have not ended. */
  freezes: FreezeSet
  /** All environments with rules, by id. */
  rules: ReadonlyMap<string, RuledEnvironment>
  /** What is in force in the environments before, by `promotionKey`. Nothing where the key is absent. */
  promotions: ReadonlyMap<string, PromotionState>
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

export interface RuledEnvironment {
  id: string
  name: string
  /** The tenant that it belongs to; null: all. */
  tenant_id: string | null
  rules: EnvironmentRules
  /** Of the role that approvers need, if the rule names one. */
  role_name: string | null
  /** Of the promotion rule, if it has one. */
  from_environment_name: string | null
}

/** What a source is in the environment from which a version is promoted, on the targets that the tenant of the request sees. */
export interface PromotionState {
  /** What is in force, with the number of targets. */
  versions: readonly { version: string; variant: string | null; targets: number }[]
  /** How many of these targets have drifted. */
  drifted: number
  /** Since when all of this is so; null where nothing is in force. */
  since: Date | null
  /** Whether the version of the request was in force before on a target of the environment that it goes to. */
  was_in_force: boolean
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
  terms: Terms
  /**
   * Who asks for it, with the rights of now. Null: the user is not active, or the API key of the request is gone. `checked`: of a new
   * request, whose rights the planner has just checked, and depend on no scope (goal: create latency).
   */
  author: Subject | 'checked' | null
  /** Facts of a request that is not stored yet; null for one of the queue. */
  arrival: Arrival | null
}

/** What rules ask about a request. */
export interface Terms {
  queued_at: Date
  /** It starts no earlier; null: at once. */
  start_at: Date | null
  /** It starts before this moment, or never; null: at any time. */
  expires_at: Date | null
  /** Whether the caller asked to override the rules of environments. */
  overrides_rules: boolean
  /** The id of the user who asks for it, also behind an API key. */
  author_id: string | null
  /** The API key of the request; null: it was made without one. */
  author_key_id: string | null
  approvals: readonly Approval[]
  source: { id: string; type: SourceType; version: string; variant: string | null }
}

/** An approval that was given, with the rights that its user has now. */
export interface Approval {
  user_id: string
  user_name: string
  at: Date
  comment: string | null
  /** Null: the user is not active. */
  subject: Subject | null
}

export interface Arrival {
  /** `started`, `queued`: an earlier copy of the command did that. `late`: the deadline of the command is over. */
  status: 'new' | 'started' | 'queued' | 'late'
  /** The pending requests of the same source and tenant that it would replace. */
  older: readonly OlderRequest[]
}

export interface OlderRequest {
  id: string
  /** Null for a parked request, which has no place to hand over. */
  queued_at: string | null
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
