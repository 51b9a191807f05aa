import { type Static, Type } from '@sinclair/typebox'
import { PlanHead, PlannedAction, PlannedTarget } from '@slipway/domain'
import { INTERPRETERS, SimulatedConnection } from '../api/catalog.ts'
import { runEnd } from '../messages/events.ts'
import { ContentId, FileMode, literals, Nullable, Strict, Timestamp, tagged, Uuid } from '../schema.ts'

/**
 * Between the executor-bridge and an orchestration instance, over HTTP. The instance opens every connection.
 * Steps are named by (target, action) index.
 */

const Labels = Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 255 }))
const Capacity = Type.Integer({ minimum: 1, maximum: 10_000 })
const Version = Type.String({ maxLength: 100 })

/** An instance joins once, with a join token or a Kubernetes service account token. Then it goes on with its credential. */
export const JoinRequest = Strict({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  version: Version,
  capacity: Capacity,
  labels: Labels,
  /** A secret of the instance. With it the same join can be repeated when its answer was lost. */
  join_key: Type.Optional(Type.String({ minLength: 32, maxLength: 255 })),
})

export const JoinResponse = Strict({
  instance_id: Uuid,
  credential: Type.String(),
  /** Without a heartbeat for this long the instance's runs are given to others. */
  lost_after_seconds: Type.Integer(),
})

/** A new credential. The one that the instance has stays good until an hour after the new one is first used. */
export const CredentialResponse = Strict({ credential: Type.String() })

const index = Type.Integer({ minimum: 0 })

export const RunRef = Strict({ deployment_id: Uuid, epoch: Type.Integer({ minimum: 1 }) })

export const RunSshConnection = Strict({
  type: Type.Literal('ssh'),
  host: Type.String(),
  port: Type.Integer(),
  username: Type.String(),
  private_key: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  /** Absent on first use: the instance reports the key it saw and the bridge pins it. */
  host_key: Type.Optional(Type.String()),
})

export const RunConnection = Type.Union([
  Strict({ type: Type.Literal('local') }),
  RunSshConnection,
  SimulatedConnection,
  Strict({
    type: Type.Literal('agent'),
    /** Null where none is enrolled. */
    agent: Nullable(Strict({ id: Uuid, host: Type.String(), port: Type.Integer(), key: Type.String() })),
  }),
])

/** Content that is put into the working directory of each command of its action. */
export const RunFile = Strict({ content: ContentId, path: Type.String(), mode: FileMode })

const { sequence_name, timeout_seconds, max_retries, variables } = PlannedAction.properties

export const RunAction = Strict({
  name: Type.String(),
  sequence_name,
  script: Type.String(),
  rollback_script: Nullable(Type.String()),
  interpreter: literals(INTERPRETERS),
  working_directory: Nullable(Type.String()),
  /** Absent where there are none. */
  files: Type.Optional(Type.Array(RunFile)),
  env: Type.Record(Type.String(), Type.String()),
  timeout_seconds,
  max_retries,
  variables,
})

export const RunTarget = Strict({ ...PlannedTarget.properties, connection: RunConnection })

/** Steps that are no longer pending when a run starts; empty for a new one. */
export const RunStep = Strict({
  target: index,
  action: index,
  state: literals(['pending', 'completed', 'failed', 'skipped', 'cancelled', 'rolled_back', 'rollback_failed']),
  retry_count: Type.Integer({ minimum: 0 }),
})

const { options, shared_variables, override_variables, sensitive } = PlanHead.properties

/** Everything an instance needs; secrets in clear, over the bridge's authenticated call only. */
export const RunSpec = Strict({
  deployment_id: Uuid,
  epoch: Type.Integer({ minimum: 1 }),
  request_id: Nullable(Type.String()),
  /** W3C: the trace that the run is part of. Absent where there is none. */
  traceparent: Type.Optional(Type.String({ maxLength: 512 })),
  options,
  /** The rest of `deployment_timeout_seconds` when the run starts; null for no limit. */
  remaining_seconds: Nullable(Type.Number()),
  actions: Type.Array(RunAction, { minItems: 1 }),
  targets: Type.Array(RunTarget, { minItems: 1 }),
  shared_variables,
  override_variables,
  /** Names whose values are masked in the output. */
  sensitive,
  phase: literals(['running', 'rolling_back']),
  steps: Type.Array(RunStep),
  /** Number of the first log line that this run writes. */
  first_line: index,
})

/** How many targets an instance probes at a time. */
export const MAX_PROBED_TARGETS = 250

/** The bridge asks whether an ssh target can be reached. */
export const ProbeTarget = Strict({
  id: Uuid,
  host: Type.String(),
  port: Type.Integer(),
  /** The pinned key; absent on first use. */
  host_key: Type.Optional(Type.String()),
  /** Only for an instance that held a lease for this target within the last day. Otherwise the probe ends after the key exchange. */
  login: Type.Optional(
    Strict({
      username: Type.String(),
      private_key: Type.Optional(Type.String()),
      password: Type.Optional(Type.String()),
    }),
  ),
})

/** `host` and `port` repeat the question, so that the answer counts only while the target still has that address. */
export const ProbeResult = Strict({
  id: Uuid,
  host: Type.String({ maxLength: 255 }),
  port: Type.Integer(),
  /** Null when the target was reached, else why not. */
  problem: Nullable(Type.String({ maxLength: 10_000 })),
  /** The key that the target showed, where it was reached. */
  host_key: Nullable(Type.String({ maxLength: 16_384 })),
})

/** How long the bridge may hold a sync. */
export const MAX_SYNC_WAIT_SECONDS = 25
/** How many runs one answer starts; the next sync gets the rest. */
export const MAX_SYNC_STARTS = 500

/**
 * What an instance has. Each sync states all of it, so a lost call costs nothing.
 * `stopped`, `refused`, `declined` and `probes` repeat until a sync succeeds.
 */
export const SyncRequest = Strict({
  version: Version,
  capacity: Capacity,
  labels: Labels,
  /** How long the bridge may hold the call while there is nothing to say. */
  wait_seconds: Type.Integer({ minimum: 0, maximum: MAX_SYNC_WAIT_SECONDS }),
  /** False while the instance can take no new runs, for example because its disk is full. */
  accepts_runs: Type.Boolean(),
  /** `next_event`: the number after the last event that the bridge acknowledged; null while the journal was not read. */
  runs: Type.Array(Strict({ ...RunRef.properties, next_event: Nullable(index) }), { maxItems: 10_000 }),
  /** Runs that ended because the bridge said so. `unconfirmed`: steps whose commands may still run. */
  stopped: Type.Array(
    Strict({
      ...RunRef.properties,
      unconfirmed: Type.Array(Type.Tuple([index, index]), { maxItems: 200_000 }),
    }),
    { maxItems: 1_000 },
  ),
  /** Runs that can never start here, for example because the specification is not valid. They end failed. */
  refused: Type.Array(Strict({ ...RunRef.properties, reason: Type.String({ maxLength: 1_000 }) }), { maxItems: 1_000 }),
  /** Runs that cannot start here now. Other instances get them. */
  declined: Type.Array(RunRef, { maxItems: 1_000 }),
  /** How many probes the instance can take now. */
  probe_slots: Type.Integer({ minimum: 0, maximum: MAX_PROBED_TARGETS }),
  probes: Type.Array(ProbeResult, { maxItems: MAX_PROBED_TARGETS }),
})

/** Why a run must end: the reason of the lease's end; `unknown` when there never was such a lease. */
export const STOP_REASONS = ['finished', 'cancelled', 'lost', 'overdue', 'final', 'unknown'] as const

/**
 * What the instance should have. Its head means that the heartbeat is committed; its body comes when there is something
 * to say, at the latest after `wait_seconds`.
 */
export const SyncResponse = Strict({
  /** The version of Slipway. An instance of another major or minor version gets no new runs. */
  version: Version,
  lost_after_seconds: Type.Integer(),
  /** `spec` is null for a large run: it is fetched by GET /v1/runs/{id}/spec. */
  start: Type.Array(Strict({ ...RunRef.properties, spec: Nullable(RunSpec) }), { maxItems: MAX_SYNC_STARTS }),
  /** Runs without a live lease. The instance kills what they run and forgets them. */
  stop: Type.Array(Strict({ ...RunRef.properties, reason: literals(STOP_REASONS) })),
  probes: Type.Array(ProbeTarget, { maxItems: MAX_PROBED_TARGETS }),
})

const stepEvent = { at: Timestamp, target: index, action: index }
const Tail = Type.String({ maxLength: 8_000 })

export const LogEvent = Strict({
  type: Type.Literal('log'),
  at: Timestamp,
  target: Nullable(index),
  action: Nullable(index),
  stream: literals(['stdout', 'stderr', 'system']),
  level: literals(['info', 'warning', 'error']),
  /** Number of the line in the deployment, from 0 without gaps. */
  line: index,
  text: Type.String({ maxLength: 70_000 }),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

export const RunEvent = tagged('type', [
  /** `attempt` counts from 0; it is the step's retry_count. */
  Strict({ type: Type.Literal('step_started'), ...stepEvent, attempt: index }),
  /** The last attempt ended. */
  Strict({
    type: Type.Literal('step_ended'),
    ...stepEvent,
    attempt: index,
    state: literals(['completed', 'failed']),
    exit_code: Nullable(Type.Integer()),
    error_message: Nullable(Type.String({ maxLength: 10_000 })),
    started_at: Timestamp,
    stdout_tail: Tail,
    stderr_tail: Tail,
  }),
  Strict({
    type: Type.Literal('steps_skipped'),
    at: Timestamp,
    steps: Type.Array(Type.Tuple([index, index]), { maxItems: 10_000 }),
  }),
  Strict({ type: Type.Literal('rolling_back'), at: Timestamp }),
  Strict({ type: Type.Literal('rollback_started'), ...stepEvent }),
  Strict({
    type: Type.Literal('rollback_ended'),
    ...stepEvent,
    ok: Type.Boolean(),
    error_message: Nullable(Type.String({ maxLength: 10_000 })),
  }),
  Strict({
    type: Type.Literal('host_key'),
    at: Timestamp,
    target: index,
    host_key: Type.String({ maxLength: 16_384 }),
  }),
  Strict({ type: Type.Literal('target_seen'), at: Timestamp, target: index }),
  LogEvent,
  Strict({
    type: Type.Literal('finished'),
    at: Timestamp,
    ...runEnd,
    error_message: Nullable(Type.String({ maxLength: 10_000 })),
  }),
])

export const MAX_BATCH_EVENTS = 2_000

export const EventBatch = Strict({
  epoch: Type.Integer({ minimum: 1 }),
  /** Number of the first event; events of an epoch count from 0. */
  first_event: index,
  events: Type.Array(RunEvent, { minItems: 1, maxItems: MAX_BATCH_EVENTS }),
  /**
   * The instance starts nothing more of the run and ends what it runs. Only such a batch is taken after a stop, for a
   * while, and only its log lines count.
   */
  after_stop: Type.Optional(Type.Literal(true)),
})

/** Number of the next event that the bridge expects: everything before it is committed. */
export const EventBatchResponse = Strict({ next_event: index })

export type JoinRequest = Static<typeof JoinRequest>
export type JoinResponse = Static<typeof JoinResponse>
export type CredentialResponse = Static<typeof CredentialResponse>
export type SyncRequest = Static<typeof SyncRequest>
export type SyncResponse = Static<typeof SyncResponse>
export type StopReason = (typeof STOP_REASONS)[number]
export type ProbeTarget = Static<typeof ProbeTarget>
export type ProbeResult = Static<typeof ProbeResult>
export type RunRef = Static<typeof RunRef>
export type RunConnection = Static<typeof RunConnection>
export type RunFile = Static<typeof RunFile>
export type RunAction = Static<typeof RunAction>
export type RunTarget = Static<typeof RunTarget>
export type RunSpec = Static<typeof RunSpec>
export type RunEvent = Static<typeof RunEvent>
export type LogEvent = Static<typeof LogEvent>
export type EventBatch = Static<typeof EventBatch>
export type EventBatchResponse = Static<typeof EventBatchResponse>
