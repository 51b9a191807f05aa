import { type Static, Type } from '@sinclair/typebox'
import { INTERPRETERS, SimulatedConnection } from '../api/catalog.ts'
import { RUN_OUTCOMES } from '../messages/events.ts'
import { PlanOptions } from '../messages/plan.ts'
import { ContentId, FileMode, literals, Nullable, Strict, Timestamp, tagged, Uuid } from '../schema.ts'

/** Between the executor-bridge and an orchestration instance, over HTTP. Steps are named by (target, action) index. */

export const EnrolRequest = Strict({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  version: Type.String({ maxLength: 100 }),
  /** Where the bridge reaches the instance. */
  base_url: Type.String({ format: 'uri', maxLength: 2_048 }),
  capacity: Type.Integer({ minimum: 1, maximum: 10_000 }),
  labels: Type.Record(Type.String({ maxLength: 255 }), Type.String({ maxLength: 255 })),
  /** The instance's own secret: the bridge presents it on every call. */
  callback_token: Type.String({ minLength: 32, maxLength: 255 }),
})

export const EnrolResponse = Strict({
  instance_id: Uuid,
  credential: Type.String(),
  heartbeat_seconds: Type.Integer(),
  /** Without a heartbeat for this long the instance's runs are given to others. */
  lost_after_seconds: Type.Integer(),
})

export const RunRef = Strict({ deployment_id: Uuid, epoch: Type.Integer({ minimum: 1 }) })

export const HeartbeatRequest = Strict({
  version: Type.String({ maxLength: 100 }),
  runs: Type.Array(RunRef, { maxItems: 10_000 }),
})

/** `stop`: runs whose lease is gone; the instance kills what they run and forgets them. */
export const HeartbeatResponse = Strict({ stop: Type.Array(RunRef) })

const index = Type.Integer({ minimum: 0 })

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

export const RunAction = Strict({
  name: Type.String(),
  sequence_name: Type.String(),
  script: Type.String(),
  rollback_script: Nullable(Type.String()),
  interpreter: literals(INTERPRETERS),
  working_directory: Nullable(Type.String()),
  /** Absent where there are none. */
  files: Type.Optional(Type.Array(RunFile)),
  env: Type.Record(Type.String(), Type.String()),
  timeout_seconds: Type.Integer(),
  max_retries: Type.Integer(),
  variables: Type.Record(Type.String(), Type.Unknown()),
})

export const RunTarget = Strict({
  id: Uuid,
  name: Type.String(),
  connection: RunConnection,
  variables: Type.Record(Type.String(), Type.Unknown()),
})

/** Steps that are no longer pending when a run is handed over; empty for a fresh one. */
export const RunStep = Strict({
  target: index,
  action: index,
  state: literals(['pending', 'completed', 'failed', 'skipped', 'cancelled', 'rolled_back', 'rollback_failed']),
  retry_count: Type.Integer({ minimum: 0 }),
})

/** Everything an instance needs; secrets in clear, over the bridge's authenticated call only. */
export const RunSpec = Strict({
  deployment_id: Uuid,
  epoch: Type.Integer({ minimum: 1 }),
  request_id: Nullable(Type.String()),
  /** W3C: the trace that the run is part of. Absent where there is none. */
  traceparent: Type.Optional(Type.String({ maxLength: 512 })),
  options: PlanOptions,
  /** Left of `deployment_timeout_seconds` when the run is handed over; null for no limit. */
  remaining_seconds: Nullable(Type.Number()),
  actions: Type.Array(RunAction, { minItems: 1 }),
  targets: Type.Array(RunTarget, { minItems: 1 }),
  shared_variables: Type.Record(Type.String(), Type.Unknown()),
  override_variables: Type.Record(Type.String(), Type.Unknown()),
  /** Names whose values are masked in the output. */
  sensitive: Type.Array(Type.String()),
  phase: literals(['running', 'rolling_back']),
  steps: Type.Array(RunStep),
  /** Number of the first log line that this run writes. */
  first_line: index,
})

/**
 * Answer to a stop: its head comes at once, the body when what ran has ended. `unconfirmed`: commands of which the target
 * did not say so, as (target, action); null where nothing is known of the run.
 */
export const StopResponse = Strict({
  stopped: Type.Boolean(),
  unconfirmed: Nullable(Type.Array(Type.Tuple([index, index]))),
})

/** How many targets an instance is asked to look after in one call. */
export const MAX_PROBED_TARGETS = 100

/** The bridge asks whether these targets can be reached; secrets in clear, as in a run. */
export const ProbeRequest = Strict({
  targets: Type.Array(Strict({ id: Uuid, connection: RunSshConnection }), { maxItems: MAX_PROBED_TARGETS }),
})

/** Targets for which there was no time are left out. */
export const ProbeResponse = Strict({
  results: Type.Array(
    Strict({
      id: Uuid,
      /** Null when it was reached, else why not. */
      problem: Nullable(Type.String({ maxLength: 10_000 })),
      /** What it showed, where it was reached. */
      host_key: Nullable(Type.String({ maxLength: 16_384 })),
    }),
    { maxItems: MAX_PROBED_TARGETS },
  ),
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
    outcome: literals(RUN_OUTCOMES),
    error_message: Nullable(Type.String({ maxLength: 10_000 })),
  }),
])

export const MAX_BATCH_EVENTS = 2_000

export const EventBatch = Strict({
  epoch: Type.Integer({ minimum: 1 }),
  /** Number of the first event; events of an epoch count from 0. */
  first_event: index,
  events: Type.Array(RunEvent, { minItems: 1, maxItems: MAX_BATCH_EVENTS }),
})

/** Number of the next event that the bridge expects: everything before it is committed. */
export const EventBatchResponse = Strict({ next_event: index })

export type EnrolRequest = Static<typeof EnrolRequest>
export type EnrolResponse = Static<typeof EnrolResponse>
export type HeartbeatRequest = Static<typeof HeartbeatRequest>
export type HeartbeatResponse = Static<typeof HeartbeatResponse>
export type StopResponse = Static<typeof StopResponse>
export type ProbeRequest = Static<typeof ProbeRequest>
export type ProbeResponse = Static<typeof ProbeResponse>
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
