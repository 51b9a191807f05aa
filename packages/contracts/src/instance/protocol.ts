import { type Static, Type } from '@sinclair/typebox'
import { COMMAND_FAILURE_REASONS, PlanHead, PlannedAction, PlannedTarget, ScriptTemplate } from '@slipway/domain'
import { INTERPRETERS, SimulatedConnection } from '../api/catalog.ts'
import { runEnd } from '../messages/events.ts'
import { ContentId, FileMode, literals, Nullable, Strict, Timestamp, tagged, Uuid } from '../schema.ts'

/**
 * The protocol of executor-bridge and orchestration instances, over HTTP. The instance opens every connection.
 * A step is named by its indices (target, action).
 */

const Labels = Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 255 }))
const Capacity = Type.Integer({ minimum: 1, maximum: 10_000 })
const Version = Type.String({ maxLength: 100 })

/** An instance joins once, with a join token or a Kubernetes service account token. Later calls use its credential. */
export const JoinRequest = Strict({
  name: Type.String({ format: 'name' }),
  version: Version,
  capacity: Capacity,
  labels: Labels,
  /** A secret of the instance. It allows the instance to repeat the join if the answer was lost. */
  join_key: Type.Optional(Type.String({ minLength: 32, maxLength: 255 })),
})

export const JoinResponse = Strict({
  instance_id: Uuid,
  credential: Type.String(),
  /** Without a heartbeat for this time, other instances get the runs. */
  lost_after_seconds: Type.Integer(),
})

/** The old credential stays valid until one hour after the first use of the new one. */
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
  /** Absent on first use: the instance reports the key of the host, and the bridge pins it. */
  host_key: Type.Optional(Type.String()),
})

export const RunConnection = Type.Union([
  Strict({ type: Type.Literal('local') }),
  RunSshConnection,
  SimulatedConnection,
  Strict({
    type: Type.Literal('agent'),
    /** Null if no agent is enrolled. */
    agent: Nullable(Strict({ id: Uuid, host: Type.String(), port: Type.Integer(), key: Type.String() })),
  }),
])

/** Content for the working directory of each command of the action. */
export const RunFile = Strict({ content: ContentId, path: Type.String(), mode: FileMode })

const { sequence_name, timeout_seconds, max_retries, variables } = PlannedAction.properties

export const RunAction = Strict({
  name: Type.String(),
  sequence_name,
  script: Type.String(),
  /** Where values are inserted into the script; null: nowhere. */
  template: Nullable(ScriptTemplate),
  rollback_script: Nullable(Type.String()),
  rollback_template: Nullable(ScriptTemplate),
  interpreter: literals(INTERPRETERS),
  working_directory: Nullable(Type.String()),
  /** Absent if there are none. */
  files: Type.Optional(Type.Array(RunFile)),
  env: Type.Record(Type.String(), Type.String()),
  timeout_seconds,
  max_retries,
  variables,
})

export const RunTarget = Strict({
  ...PlannedTarget.properties,
  connection: RunConnection,
  /** The name of the environment of the deployment, or else of the target; null for none. */
  environment: Nullable(Type.String()),
})

/** Steps that are no longer pending when a run starts; empty for a new one. */
export const RunStep = Strict({
  target: index,
  action: index,
  state: literals(['pending', 'completed', 'failed', 'skipped', 'cancelled', 'rolled_back', 'rollback_failed']),
  retry_count: Type.Integer({ minimum: 0 }),
})

const { options, shared_variables, override_variables, sensitive } = PlanHead.properties

/** What an instance needs for a run. Contains secrets in clear, so only an authenticated answer of the bridge may carry it. */
export const RunSpec = Strict({
  deployment_id: Uuid,
  epoch: Type.Integer({ minimum: 1 }),
  request_id: Nullable(Type.String()),
  /** The source of the deployment. */
  source: Strict({ name: Type.String(), version: Type.String() }),
  /** The W3C trace of the run, if any. */
  traceparent: Type.Optional(Type.String({ maxLength: 512 })),
  options,
  /** What is left of `deployment_timeout_seconds` at the start of the run; null for no limit. */
  remaining_seconds: Nullable(Type.Number()),
  actions: Type.Array(RunAction, { minItems: 1 }),
  targets: Type.Array(RunTarget, { minItems: 1 }),
  shared_variables,
  override_variables,
  /** Names of the variables to mask in the output. */
  sensitive,
  phase: literals(['running', 'rolling_back']),
  steps: Type.Array(RunStep),
  /** The number of the first log line of this run. */
  first_line: index,
})

/** How many targets an instance probes at a time. */
export const MAX_PROBED_TARGETS = 250

/** An SSH target that the instance tries to reach. */
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

/** Repeats `host` and `port`: the result counts only if the target still has this address. */
export const ProbeResult = Strict({
  id: Uuid,
  host: Type.String({ maxLength: 255 }),
  port: Type.Integer(),
  /** Why the target was not reached; null if it was reached. */
  problem: Nullable(Type.String({ maxLength: 10_000 })),
  /** The host key of a reached target. */
  host_key: Nullable(Type.String({ maxLength: 16_384 })),
})

/** How long the bridge may hold a sync. */
export const MAX_SYNC_WAIT_SECONDS = 25
/** The most runs that one answer starts. The next sync gets the rest. */
export const MAX_SYNC_STARTS = 500

/**
 * The complete state of an instance, so a lost sync costs nothing. The instance repeats `stopped`, `refused`, `declined` and
 * `probes` until a sync succeeds.
 */
export const SyncRequest = Strict({
  version: Version,
  capacity: Capacity,
  labels: Labels,
  /** How long the bridge may hold the call while nothing changes. */
  wait_seconds: Type.Integer({ minimum: 0, maximum: MAX_SYNC_WAIT_SECONDS }),
  /** False while the instance can take no new runs, for example because its disk is full. */
  accepts_runs: Type.Boolean(),
  /** `next_event`: the number after the last event that the bridge acknowledged; null while the journal was not read. */
  runs: Type.Array(Strict({ ...RunRef.properties, next_event: Nullable(index) }), { maxItems: 10_000 }),
  /** Runs that the instance stopped because the bridge said so. Commands of the `unconfirmed` steps may still run. */
  stopped: Type.Array(
    Strict({
      ...RunRef.properties,
      unconfirmed: Type.Array(Type.Tuple([index, index]), { maxItems: 200_000 }),
    }),
    { maxItems: 1_000 },
  ),
  /** Runs that can never start on this instance, such as one with an invalid specification. They end failed. */
  refused: Type.Array(Strict({ ...RunRef.properties, reason: Type.String({ maxLength: 1_000 }) }), { maxItems: 1_000 }),
  /** Runs that cannot start on this instance now. Other instances get them. */
  declined: Type.Array(RunRef, { maxItems: 1_000 }),
  probe_slots: Type.Integer({ minimum: 0, maximum: MAX_PROBED_TARGETS }),
  probes: Type.Array(ProbeResult, { maxItems: MAX_PROBED_TARGETS }),
})

/** Why a run must end: the reason why its lease ended. `unknown`: there never was such a lease. */
export const STOP_REASONS = ['finished', 'cancelled', 'lost', 'overdue', 'final', 'unknown'] as const

/**
 * The runs that the instance should have. The bridge sends the HTTP headers when the heartbeat is committed, and the body when
 * something changes, or after `wait_seconds`.
 */
export const SyncResponse = Strict({
  /** The version of Slipway. An instance of another major or minor version gets no new runs. */
  version: Version,
  lost_after_seconds: Type.Integer(),
  /** `spec` is null for a large run. The instance gets it with GET /v1/runs/{id}/spec. */
  start: Type.Array(Strict({ ...RunRef.properties, spec: Nullable(RunSpec) }), { maxItems: MAX_SYNC_STARTS }),
  /** Runs without a live lease. The instance kills their commands and drops them. */
  stop: Type.Array(Strict({ ...RunRef.properties, reason: literals(STOP_REASONS) })),
  probes: Type.Array(ProbeTarget, { maxItems: MAX_PROBED_TARGETS }),
})

const stepEvent = { at: Timestamp, target: index, action: index }
const Tail = Type.String({ maxLength: 8_000 })

/** Absent after a success and after an exit code. See CommandFailure. */
export const failureReason = {
  reason: Type.Optional(literals(COMMAND_FAILURE_REASONS)),
  subject: Type.Optional(Type.String({ maxLength: 4_096 })),
}

export const LogEvent = Strict({
  type: Type.Literal('log'),
  at: Timestamp,
  target: Nullable(index),
  action: Nullable(index),
  stream: literals(['stdout', 'stderr', 'system']),
  level: literals(['info', 'warning', 'error']),
  /** The number of the line in the deployment, from 0 without gaps. */
  line: index,
  text: Type.String({ maxLength: 70_000 }),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

export const RunEvent = tagged('type', [
  /** `attempt` counts from 0 and becomes the `retry_count` of the step. */
  Strict({ type: Type.Literal('step_started'), ...stepEvent, attempt: index }),
  /** Sent after the last attempt only. */
  Strict({
    type: Type.Literal('step_ended'),
    ...stepEvent,
    attempt: index,
    state: literals(['completed', 'failed']),
    exit_code: Nullable(Type.Integer()),
    error_message: Nullable(Type.String({ maxLength: 10_000 })),
    ...failureReason,
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
  /** The number of the first event. Events of an epoch count from 0. */
  first_event: index,
  events: Type.Array(RunEvent, { minItems: 1, maxItems: MAX_BATCH_EVENTS }),
  /**
   * Marks a batch from after a stop: the instance starts no further commands and ends the running ones. For a while after a stop,
   * the bridge accepts only such batches, and only their log lines.
   */
  after_stop: Type.Optional(Type.Literal(true)),
})

/** How many unfinished lines one call brings. */
export const MAX_PARTIAL_LINES = 200

/** A line of a command that is not finished. Stream clients see its text, and nothing stores it. */
export const PartialLine = Strict({
  at: Timestamp,
  target: index,
  action: index,
  stream: literals(['stdout', 'stderr']),
  text: Type.String({ maxLength: 5_000 }),
  /** The number that the next line of the deployment gets. */
  next_line: index,
})

export const PartialLines = Strict({
  epoch: Type.Integer({ minimum: 1 }),
  lines: Type.Array(PartialLine, { minItems: 1, maxItems: MAX_PARTIAL_LINES }),
})

/** The number of the next event. All events before it are committed. */
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
export type PartialLine = Static<typeof PartialLine>
export type PartialLines = Static<typeof PartialLines>
export type EventBatch = Static<typeof EventBatch>
export type EventBatchResponse = Static<typeof EventBatchResponse>
