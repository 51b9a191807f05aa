import { Type } from '@sinclair/typebox'
import {
  COMMAND_FAILURE_REASONS,
  DEPLOYMENT_STATES,
  FailureStrategy,
  InstanceSelector,
  NamedRecord,
  PENDING_STATES,
  RollbackStrategy,
  SourceType,
  STEP_STATES,
  TargetMode,
} from '@slipway/domain'
import {
  Id,
  literals,
  NOT_BLANK,
  Nullable,
  Strict,
  Tag,
  Timestamp,
  Uuid,
  VARIABLE_NAME,
  Variables,
  VersionRequirement,
  withOptions,
} from '../schema.ts'
import { Replacement } from './releases.ts'

export { FailureStrategy, RollbackStrategy, SourceType, TargetMode }

const TargetIds = Type.Array(Id('target'), { maxItems: 10_000 })
const TargetTags = Type.Array(Tag, { maxItems: 100 })
const Priority = Type.Integer({ minimum: -100, maximum: 100 })
const PlanHash = Type.String({
  pattern: '^p[0-9]{1,3}\\.[A-Za-z0-9_-]{1,64}(\\.[A-Za-z0-9_-]{12}){1,32}$',
  maxLength: 500,
  description:
    'The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences ' +
    'lists the parts that differ. A preview and dry_run ignore it.',
})
const PromptedValues = Type.Record(Type.String({ pattern: `${VARIABLE_NAME}|^[0-9a-fA-F-]{36}$` }), Type.Unknown(), {
  additionalProperties: false,
  maxProperties: 1_000,
})

/** Filters by one source; at most one of them. */
export const ofSource = {
  solution_id: Type.Optional(Id('solution')),
  sequence_id: Type.Optional(Id('sequence')),
  action_id: Type.Optional(Id('action')),
}

/** Fields of create and redeploy. */
const overridable = {
  target_ids: Type.Optional(TargetIds),
  target_tags: Type.Optional(TargetTags),
  target_mode: Type.Optional(TargetMode),
  failure_strategy: Type.Optional(FailureStrategy),
  rollback_strategy: Type.Optional(RollbackStrategy),
  priority: Type.Optional(Priority),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  variables: Type.Optional(Variables),
  prompted_values: Type.Optional(PromptedValues),
  environment_id: Type.Optional(Id('environment')),
  bypass_cache: Type.Optional(Type.Boolean()),
  expected_plan_hash: Type.Optional(PlanHash),
  override_freeze: Type.Optional(Type.Boolean()),
  override_reason: Type.Optional(Type.String({ pattern: NOT_BLANK, maxLength: 10_000 })),
  only_changed: Type.Optional(
    Type.Boolean({
      description:
        'Leaves out targets on which the same versions and values are in force and nothing was attempted since. ' +
        'The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, the answer is 409 CONFLICT with details.unchanged_target_ids.',
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Answers with the preview, and creates nothing' })),
  strict: Type.Optional(
    Type.Boolean({
      description:
        'Refuses the request if it would get one of these warnings: templates without a value, variables that nothing ' +
        'uses, offline targets. details.warnings lists them. Freezes, capacity and stale targets do not count.',
    }),
  ),
}

export const CreateDeployment = Strict({
  solution_id: Type.Optional(Id('solution')),
  sequence_id: Type.Optional(Id('sequence')),
  action_id: Type.Optional(Id('action')),
  version_requirement: Type.Optional(VersionRequirement),
  target_tags_match_all: Type.Optional(Type.Boolean()),
  deployment_timeout_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 31_536_000 })),
  tenant_id: Type.Optional(Id('tenant')),
  ...overridable,
})

export const RedeployDeployment = Strict({
  ...overridable,
  only_failed_targets: Type.Optional(
    Type.Boolean({
      description: 'Only targets with steps that are not completed: failed, skipped, cancelled or rolled back',
    }),
  ),
})

export const CancelDeployment = Strict({ reason: Type.Optional(Type.String({ maxLength: 10_000 })) })

export const UpdatePending = Strict({ priority: Priority })

const sourceFields = {
  source_type: SourceType,
  solution_id: Nullable(Uuid),
  solution_name: Nullable(Type.String()),
  solution_version: Nullable(Type.String()),
  sequence_id: Nullable(Uuid),
  sequence_name: Nullable(Type.String()),
  sequence_version: Nullable(Type.String()),
  action_id: Nullable(Uuid),
  action_name: Nullable(Type.String()),
  action_version: Nullable(Type.String()),
}

export const DeploymentSummary = Strict({
  id: Uuid,
  ...sourceFields,
  state: literals(DEPLOYMENT_STATES),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  total_steps: Type.Integer(),
  completed_steps: Type.Integer(),
  failed_steps: Type.Integer(),
  tenant_id: Nullable(Uuid),
  tenant_name: Nullable(Type.String()),
  environment_id: Nullable(Uuid),
  environment_name: Nullable(Type.String()),
  triggered_by: Nullable(Type.String()),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  duration_ms: Nullable(Type.Integer()),
})

export const DeploymentOfTarget = Strict({
  ...DeploymentSummary.properties,
  target_steps: Strict(
    { total: Type.Integer(), completed: Type.Integer(), failed: Type.Integer() },
    { description: 'The steps on this target. Failed are those that have ever failed' },
  ),
})

const UnchangedTargetIds = Type.Optional(
  Type.Array(Uuid, { description: 'The targets that only_changed left out; absent without it' }),
)

export const DeploymentConfig = Strict({
  target_mode: TargetMode,
  failure_strategy: FailureStrategy,
  rollback_strategy: RollbackStrategy,
  priority: Type.Integer(),
  timeout_seconds: Type.Integer(),
  max_retries: Type.Integer(),
  target_ids: Type.Array(Uuid),
  target_tags: Type.Array(Tag),
  variables: Variables,
  tenant_id: Nullable(Uuid),
  environment_id: Nullable(Uuid),
  unchanged_target_ids: UnchangedTargetIds,
})

export const Step = Strict({
  id: Uuid,
  target_id: Uuid,
  target_name: Type.String(),
  sequence_id: Uuid,
  sequence_name: Type.String(),
  sequence_order: Type.Integer(),
  action_id: Uuid,
  action_name: Type.String(),
  action_order: Type.Integer(),
  state: literals(STEP_STATES),
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  exit_code: Nullable(Type.Integer()),
  error_message: Nullable(Type.String()),
  retry_count: Type.Integer(),
  duration_ms: Nullable(Type.Integer()),
  end_confirmed: Nullable(
    Type.Boolean({
      description: 'Whether a command that was killed with its deployment is known to have ended; null for other steps',
    }),
  ),
})

export const PlanView = Strict({
  target_count: Type.Integer(),
  steps: Type.Array(Step),
  resolved_variables: Variables,
  tenant_name: Nullable(Type.String()),
  environment_name: Nullable(Type.String()),
  created_at: Timestamp,
})

export const DeploymentDetail = Strict({
  ...DeploymentSummary.properties,
  config: DeploymentConfig,
  plan: Nullable(PlanView),
  error_message: Nullable(Type.String()),
  analysis_enabled: Type.Boolean(),
  source_deployment_id: Type.Optional(Uuid),
  cancelled_by: Nullable(Type.String()),
  cancelled_at: Nullable(Timestamp),
  cancel_reason: Nullable(Type.String()),
})

const Warnings = Type.Array(Type.String(), {
  description: 'Templates without a value, variables that nothing uses, offline and stale targets, active freezes',
})

export const CreateStarted = Strict({
  deployment_id: Uuid,
  pending: Type.Literal(false),
  message: Type.String(),
  warnings: Warnings,
  deployment: DeploymentDetail,
})

export const CreateQueued = Strict({
  pending_request_id: Uuid,
  pending: Type.Literal(true),
  message: Type.String(),
  warnings: Warnings,
  unchanged_target_ids: UnchangedTargetIds,
})

export const RedeployStarted = Strict({ ...DeploymentDetail.properties, warnings: Warnings })

export const Preview = Strict({
  plan: PlanView,
  warnings: Type.Array(Type.String(), { description: 'The warnings of a create, and whether it would be queued' }),
  target_summary: Strict({
    total: Type.Integer(),
    online: Type.Integer(),
    offline: Type.Integer(),
    stale: Type.Integer(),
  }),
  variables: Variables,
  source_type: SourceType,
  source_name: Type.String(),
  source_version: Type.String(),
  plan_hash: PlanHash,
  replaces: Type.Array(Replacement, { description: 'What is in force now on the targets of the plan' }),
  unchanged_targets: Type.Array(NamedRecord, {
    description: 'Targets with the same versions and values in force; only_changed leaves them out',
  }),
})

/** Date and time in UTC without a zone. */
const PlainTime = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' })

export const WAITING_FOR = [
  'capacity',
  'freeze',
  'instance_pool',
  'no_compatible_instance',
  'target_lock',
  'tenant_limit',
] as const

/** The instances that a pending request needs, and those that there are now. */
export const InstancePool = Strict(
  {
    name: Type.String({
      description: 'The selector as text, such as `zone=a,!spot`; the same as the label of metrics',
    }),
    selector: InstanceSelector,
    position: Type.Integer({ minimum: 1, description: 'The place among the requests of this pool' }),
    known: Type.Integer({ description: 'Instances that serve the tenant of the request' }),
    matching: Type.Integer({ description: 'How many of them have the labels' }),
    accepting: Type.Integer({ description: 'How many of those take runs: online, compatible and not draining' }),
    slots: Type.Integer({ description: 'Slots of the instances that take runs' }),
    taken: Type.Integer({ description: 'How many of these slots are taken' }),
  },
  { description: 'Absent if any instance will do' },
)

const CANCEL_CAUSES = ['user', 'superseded'] as const

export const HeldTarget = Strict({
  target_id: Uuid,
  target_name: Type.String(),
  deployment_id: Type.Optional(
    withOptions(Uuid, { description: 'The deployment that holds the target; absent if it is of another tenant' }),
  ),
  since: Timestamp,
})

export const PendingRequest = Strict({
  id: Uuid,
  tenant_id: Type.Optional(Uuid),
  tenant_name: Type.Optional(Type.String()),
  environment_id: Type.Optional(Uuid),
  environment_name: Type.Optional(Type.String()),
  source_type: Type.Optional(SourceType),
  source_id: Type.Optional(Uuid),
  source_name: Type.Optional(Type.String()),
  source_version: Type.Optional(Type.String()),
  target_count: Type.Optional(
    Type.Integer({
      description: 'How many targets the plan has. Like the source, absent in requests of earlier releases',
    }),
  ),
  triggered_by: Type.Optional(Type.String()),
  queued_at: PlainTime,
  created_at: PlainTime,
  retry_count: Type.Integer(),
  status: literals(PENDING_STATES),
  priority: Type.Integer(),
  position: Type.Optional(Type.Integer({ minimum: 1 })),
  waiting_for: Type.Optional(literals(WAITING_FOR)),
  waiting_reason: Type.Optional(Type.String()),
  held_targets: Type.Optional(
    Type.Array(HeldTarget, {
      description: 'The targets that other deployments hold, at most 3, those held longest first; with `target_lock`',
    }),
  ),
  instance_pool: Type.Optional(InstancePool),
  estimated_start: Type.Optional(PlainTime),
  last_retry_at: Type.Optional(PlainTime),
  error_message: Type.Optional(Type.String()),
  deployment_id: Type.Optional(Uuid),
  dispatched_at: Type.Optional(PlainTime),
  dispatched_to_instance_id: Type.Optional(Uuid),
  cancelled_because: Type.Optional(
    withOptions(literals(CANCEL_CAUSES), { description: 'Whether a user or a newer request cancelled it' }),
  ),
  superseded_by: Type.Optional(
    withOptions(Uuid, {
      description:
        'The newer request of the same source that replaced it, or its deployment if that one started at once',
    }),
  ),
})

export const Analysis = Strict({
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  summary: Type.String(),
  likely_cause: Type.String(),
  remediation: Type.Array(Type.String()),
  analyzed_at: Timestamp,
  model_version: Type.String({ description: 'The rules (rules-2), or the model of the configured endpoint' }),
  fingerprint: Type.String({ description: 'The same for failures of one kind, on any target' }),
})

export const LogEntry = Strict({
  id: Uuid,
  timestamp: Timestamp,
  level: Type.String(),
  event_type: Type.String(),
  step_id: Nullable(Uuid),
  target_id: Nullable(Uuid),
  target_name: Nullable(Type.String()),
  message: Type.String(),
  stdout: Nullable(Type.String()),
  stderr: Nullable(Type.String()),
  metadata: Nullable(Type.Record(Type.String(), Type.Unknown())),
  analysis: Nullable(Analysis),
})

export const CommandResult = Strict({
  id: Uuid,
  target_id: Uuid,
  target_name: Type.Optional(Type.String()),
  action_name: Type.Optional(Type.String()),
  status: Type.String(),
  exit_code: Type.Optional(Type.Integer()),
  stdout_tail: Type.Optional(Type.String()),
  stderr_tail: Type.Optional(Type.String()),
  error_message: Type.Optional(Type.String()),
  failure_reason: Type.Optional(
    withOptions(literals(COMMAND_FAILURE_REASONS), {
      description: 'Why the command failed; absent where its exit code or its output tells',
    }),
  ),
  started_at: withOptions(Timestamp, {
    description: 'When the start of the last attempt was recorded, which is before it began',
  }),
  completed_at: Timestamp,
  duration_ms: Type.Integer(),
  analysis: Type.Optional(Analysis),
})
