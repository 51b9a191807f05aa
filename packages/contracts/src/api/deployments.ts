import { Type } from '@sinclair/typebox'
import {
  BLOCKER_CODES,
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
  Count,
  describe,
  Flag,
  Id,
  literals,
  Moment,
  NOT_BLANK,
  Nullable,
  NullableMoment,
  NullableRef,
  NullableText,
  Ref,
  Strict,
  Tag,
  Text,
  Uuid,
  VARIABLE_NAME,
  Variables,
  VersionRequirement,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'
import { Blockers, EarliestStart, HeldTarget } from './blockers.ts'
import { Approvals, GivenApproval } from './environment-rules.ts'
import { Replacement } from './releases.ts'

export { FailureStrategy, RollbackStrategy, SourceType, TargetMode }

const TargetIds = describe(
  Type.Array(Id('target'), { maxItems: 10_000 }),
  'Targets by id. They run in this order, before those that tags select. A disabled target, or one of another ' +
    'environment, is 400',
  [STORY.target, STORY.secondTarget],
)
const TargetTags = describe(
  Type.Array(Tag, { maxItems: 100 }),
  'Targets by tag: those with any of the tags, by name, without disabled ones and those of another environment. ' +
    'target_tags_match_all asks for all of the tags. If no target has the tags, the answer is 400',
)
const Priority = describe(
  Type.Integer({ minimum: -100, maximum: 100 }),
  'Priority in the queue, -100 to 100; a higher number starts first',
  0,
)
const TimeoutSeconds = describe(
  Type.Integer({ minimum: 1, maximum: 86_400 }),
  'Seconds until an attempt of a command is killed. When omitted, that of each action',
  120,
)
const MaxRetries = describe(
  Type.Integer({ minimum: 0, maximum: 10 }),
  'How often a failed command is retried. When omitted, the number of each action',
  1,
)
const PlanHash = Type.String({
  pattern: '^p[0-9]{1,3}\\.[A-Za-z0-9_-]{1,64}(\\.[A-Za-z0-9_-]{12}){1,32}$',
  maxLength: 500,
  description:
    'The plan_hash of a preview. If the plan has changed since then, the answer is 409 CONFLICT, and details.differences ' +
    'lists the parts that differ. A preview and dry_run ignore it.',
  examples: ['p1.3kq9vZ0aT2m.7Hc1yQxL0pRw'],
})
const PromptedValues = Type.Record(Type.String({ pattern: `${VARIABLE_NAME}|^[0-9a-fA-F-]{36}$` }), Type.Unknown(), {
  additionalProperties: false,
  maxProperties: 1_000,
  description: 'Values of prompted variables, by name or by id of the definition. They go before `variables`',
  examples: [{ change_number: 'CHG-4711' }],
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
  timeout_seconds: Type.Optional(TimeoutSeconds),
  max_retries: Type.Optional(MaxRetries),
  variables: Type.Optional(
    describe(Variables, 'Values by name, for all steps. They go before those of all records', { version: '1.1.0' }),
  ),
  prompted_values: Type.Optional(PromptedValues),
  environment_id: Type.Optional(
    Id(
      'environment',
      'The environment, by UUID or SqId. It gives variables to all targets, and they must be of it, or of no environment. ' +
        'If it is omitted, each target gets the variables of its own environment',
    ),
  ),
  bypass_cache: Type.Optional(
    Flag('Whether instances download all files again instead of using those that they keep; false when omitted', false),
  ),
  expected_plan_hash: Type.Optional(PlanHash),
  override_freeze: Type.Optional(
    Flag(
      'Whether to deploy in spite of a freeze; false when omitted. The user of the credential needs the role admin, ' +
        'and an API key with scopes also deployments:override (403 otherwise, also without a freeze). Give override_reason. ' +
        'An admin of a tenant overrides only freezes of that tenant',
      false,
    ),
  ),
  override_reason: Type.Optional(
    describe(
      Type.String({ pattern: NOT_BLANK, maxLength: 10_000 }),
      'Why freezes or rules are overridden; the audit record has it',
      'Fixes the checkout',
    ),
  ),
  override_rules: Type.Optional(
    Flag(
      'Whether to deploy in spite of the rules of environments; false when omitted. It needs what override_freeze needs, and ' +
        'override_reason. An admin of a tenant overrides only rules of environments of that tenant',
      false,
    ),
  ),
  start_at: Type.Optional(
    Moment(
      'It starts no earlier: it waits until then. A moment in the past is now. A redeploy does not repeat it',
      '2026-03-14T22:00:00Z',
    ),
  ),
  expires_at: Type.Optional(
    Moment(
      'If it has not started by then, it ends as cancelled. After start_at, and in the future',
      '2026-03-15T02:00:00Z',
    ),
  ),
  only_changed: Type.Optional(
    Type.Boolean({
      description:
        'Leaves out targets on which the same versions and values are in force and nothing was attempted since. ' +
        'The answer lists them as unchanged_target_ids, in config of a deployment. If no target is left, nothing starts: 200 with deployment_id null. A preview is then 409 CONFLICT with details.unchanged_target_ids.',
      examples: [false],
    }),
  ),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Answers 200 with the preview, and creates nothing', examples: [false] }),
  ),
  strict: Type.Optional(
    Type.Boolean({
      description:
        'Refuses the request if it would get one of these warnings: templates without a value, variables that nothing ' +
        'uses, offline targets, targets in more than one environment. details.warnings lists them. Freezes, capacity and stale targets do not count.',
      examples: [false],
    }),
  ),
}

export const CreateDeployment = Strict({
  solution_id: Type.Optional(Id('solution', 'The solution to deploy, by UUID or SqId. Give exactly one source')),
  sequence_id: Type.Optional(Id('sequence', 'The sequence to deploy, by UUID or SqId. Give exactly one source')),
  action_id: Type.Optional(Id('action', 'The action to deploy, by UUID or SqId. Give exactly one source')),
  version_requirement: Type.Optional(VersionRequirement),
  versions_of: Type.Optional(
    Ref(
      'formerDeployment',
      'A deployment of the same source, by UUID: the source and everything that it is made of get the versions of that ' +
        'deployment. Not together with version_requirement',
    ),
  ),
  target_tags_match_all: Type.Optional(
    Flag('Whether a target needs all of the target_tags, not only one of them; false when omitted'),
  ),
  deployment_timeout_seconds: Type.Optional(
    describe(
      Type.Integer({ minimum: 0, maximum: 31_536_000 }),
      'Seconds from the start of the deployment after which it fails; 0: no limit, also when omitted',
      600,
    ),
  ),
  tenant_id: Type.Optional(
    Id(
      'tenant',
      'The tenant to deploy for, by UUID or SqId. Needs environment_id. When omitted: the tenant of the caller, and none ' +
        'for a caller without tenant',
    ),
  ),
  ...overridable,
})

export const RedeployDeployment = Strict(
  {
    ...overridable,
    only_failed_targets: Type.Optional(
      Type.Boolean({
        description:
          'Only targets with steps that are not completed: failed, skipped, cancelled or rolled back. Together with ' +
          'target_ids or target_tags, and if there is no such target, the answer is 400',
        examples: [true],
      }),
    ),
  },
  {
    description:
      'Fields that are omitted keep the value of the earlier deployment. bypass_cache, override_freeze, only_changed, strict ' +
      'and dry_run are false when omitted.',
  },
)

export const CancelDeployment = Strict({
  reason: Type.Optional(
    describe(Type.String({ maxLength: 10_000 }), 'Why, for people. The deployment shows it', 'wrong version'),
  ),
})

export const UpdatePending = Strict({ priority: Priority })

const sourceFields = {
  source_type: SourceType,
  solution_id: NullableRef('solution', 'The deployed solution; null for other sources'),
  solution_name: NullableText('Its name', 'storefront'),
  solution_version: NullableText('The deployed version of it', '1.1.0'),
  sequence_id: NullableRef('sequence', 'The deployed sequence; null for other sources', null),
  sequence_name: NullableText('Its name', null),
  sequence_version: NullableText('The deployed version of it', null),
  action_id: NullableRef('action', 'The deployed action; null for other sources', null),
  action_name: NullableText('Its name', null),
  action_version: NullableText('The deployed version of it', null),
}

export const DeploymentState = describe(
  literals(DEPLOYMENT_STATES),
  'Where the deployment stands. `success`, `failed`, `cancelled` and `rolled_back` are final and never change. No ' +
    'deployment is shown as `pending` or `queued`: before its start there is a pending request',
  'success',
)

const triggeredBy = NullableText('The name of the user who created it, also by an API key', 'pipeline')

export const DeploymentSummary = Strict({
  id: Ref('deployment', 'UUID of the deployment'),
  ...sourceFields,
  state: DeploymentState,
  progress: describe(Type.Number({ minimum: 0, maximum: 1 }), 'Share of the steps that have ended. It never falls', 1),
  total_steps: Count('Steps of the plan: targets times actions', 2),
  completed_steps: Count('Steps whose command succeeded', 2),
  failed_steps: Count('Steps whose command failed after all its attempts', 0),
  tenant_id: NullableRef('tenant', 'The tenant that the deployment is for; null: none', null),
  tenant_name: NullableText('Its name', null),
  environment_id: NullableRef('environment', 'The environment that the deployment names; null: none'),
  environment_name: NullableText('Its name', 'production'),
  triggered_by: triggeredBy,
  api_key_name: NullableText('The name of the API key with which it was asked for; null: a person asked', null),
  target_count: Count('Targets of the plan', 2),
  previous_versions: describe(
    Type.Array(Type.String(), { maxItems: 3 }),
    'The versions of the source that it replaced, the most frequent first, by the first 25 targets that it reached',
    ['1.0.0'],
  ),
  created_at: Moment('When it was created'),
  started_at: NullableMoment('When it got a slot of an instance', MOMENTS.created),
  completed_at: NullableMoment('When it ended; null: not yet', MOMENTS.ended),
  duration_ms: describe(
    Nullable(Type.Integer()),
    'Milliseconds from started_at to completed_at; null: not ended',
    43_000,
  ),
})

export const DeploymentOfTarget = Strict({
  ...DeploymentSummary.properties,
  target_steps: Strict(
    {
      total: Count('Steps on this target', 1),
      completed: Count('Steps whose command succeeded', 1),
      failed: Count('Steps whose command has ever failed', 0),
    },
    { description: 'The steps on this target. Failed are those that have ever failed' },
  ),
})

const UnchangedTargetIds = Type.Optional(
  Type.Array(Uuid, {
    description: 'The targets that only_changed left out; absent without it',
    examples: [[STORY.secondTarget]],
  }),
)

export const DeploymentConfig = Strict(
  {
    target_mode: TargetMode,
    failure_strategy: FailureStrategy,
    rollback_strategy: RollbackStrategy,
    priority: Count('Priority in the queue, -100 to 100', 0),
    timeout_seconds: Count('Seconds that an attempt of a command may take', 3_600),
    max_retries: Count('How often a failed command is retried', 0),
    target_ids: describe(Type.Array(Uuid), 'The targets that the request named by id', [STORY.target]),
    target_tags: describe(Type.Array(Tag), 'The tags by which the request selected targets'),
    variables: describe(Variables, 'Values of the request; sensitive ones are `***`', { version: '1.1.0' }),
    tenant_id: NullableRef('tenant', 'The tenant of the request; null: none', null),
    environment_id: NullableRef('environment', 'The environment of the request; null: none'),
    unchanged_target_ids: UnchangedTargetIds,
  },
  { description: 'What was asked for, with the defaults filled in' },
)

export const Step = Strict(
  {
    id: Ref('step', 'UUID of the step, computed from the deployment and its place'),
    target_id: Ref('target', 'The target, by UUID'),
    target_name: Text('Its name when the deployment was planned', 'web-1'),
    sequence_id: Ref('sequence', 'The sequence that the action belongs to. For an action alone, the action'),
    sequence_name: Text('Its name when the deployment was planned', 'release web'),
    sequence_version: Text('The version of the sequence in the plan', '1.1.0'),
    sequence_order: Count('Place of the sequence in the plan, from 0', 0),
    action_id: Ref('action', 'The action, by UUID'),
    action_name: Text('Its name when the deployment was planned', 'restart web'),
    action_version: Text('The version of the action in the plan', '1.2.0'),
    action_order: Count('Place of the action in its sequence, from 0', 0),
    state: describe(
      literals(STEP_STATES),
      'Where the step stands. `skipped`: it never started, because of a failure or the timeout of the deployment',
      'completed',
    ),
    started_at: NullableMoment('When its first attempt started; null: not yet', MOMENTS.started),
    completed_at: NullableMoment('When it ended; null: not yet', MOMENTS.ended),
    exit_code: describe(
      Nullable(Type.Integer()),
      'Exit code of the last attempt; null: it has none, as a killed one',
      0,
    ),
    error_message: NullableText('Why the last attempt failed or was cancelled; null: it was not', null),
    retry_count: Count('How often the command was retried', 0),
    duration_ms: describe(
      Nullable(Type.Integer()),
      'Milliseconds from started_at to completed_at; null: not ended',
      21_000,
    ),
    end_confirmed: describe(
      Nullable(Type.Boolean()),
      'Whether a command that was killed with its deployment is known to have ended; null for other steps',
      null,
    ),
  },
  { description: 'One action on one target, in one deployment' },
)

const PlanVersion = Strict({
  kind: SourceType,
  id: Ref('solution', 'The source or a part of it, by UUID'),
  name: Text('Its name when the deployment was planned', 'storefront'),
  version: Text('Its version. If the plan has several versions of a part, each is an entry', '1.1.0'),
})

export const PlanView = Strict(
  {
    target_count: Count('How many targets the plan has', 2),
    versions: describe(Type.Array(PlanVersion), 'The versions of the source and of everything that it is made of'),
    steps: describe(Type.Array(Step), 'The steps, by target and then in the order of execution'),
    resolved_variables: describe(
      Variables,
      'Values that hold for all targets; sensitive ones are `***`. Targets may have values of their own',
      { version: '1.1.0', api_token: '***' },
    ),
    tenant_name: NullableText('Name of the tenant; null: none', null),
    environment_name: NullableText('Name of the environment; null: none', 'production'),
    created_at: Moment('When the plan was made'),
  },
  { description: 'What runs where, in which order, with which values' },
)

export const DeploymentDetail = Strict({
  ...DeploymentSummary.properties,
  config: DeploymentConfig,
  plan: describe(
    Nullable(PlanView),
    'The plan with the states of its steps; null in the answers of a cancel and a redeploy',
  ),
  error_message: NullableText('Why the deployment failed, also after its rollback; null: it did not', null),
  analysis_enabled: Flag('Whether failed commands are analysed'),
  source_deployment_id: Type.Optional(
    Ref('formerDeployment', 'The deployment that was redeployed; absent if this is no redeploy'),
  ),
  approved_by: describe(
    Type.Array(GivenApproval),
    'The users who approved it before it started, by rules of its environments; empty if nobody had to',
    [],
  ),
  cancelled_by: NullableText('The name of the user who cancelled it; null: nobody did', null),
  cancelled_at: NullableMoment('When it was cancelled; null: it was not', null),
  cancel_reason: NullableText('The reason that the user gave; null: none', null),
})

const Warnings = Type.Array(Type.String(), {
  description: 'Templates without a value, variables that nothing uses, offline and stale targets, active freezes',
  examples: [['Target "web-2" is stale']],
})

export const CreateStarted = Strict({
  deployment_id: Ref('deployment', 'The new deployment, by UUID'),
  pending: describe(Type.Literal(false), 'false: the deployment has started', false),
  message: Text('What happened, for people', 'The deployment has started'),
  warnings: Warnings,
  deployment: describe(DeploymentDetail, 'The new deployment'),
})

export const CreateQueued = Strict({
  pending_request_id: Ref(
    'pendingRequest',
    'The pending request, by UUID. Its `deployment_id` names the deployment after the start',
  ),
  pending: describe(Type.Literal(true), 'true: the request waits in the queue', true),
  message: Text('What happened, for people', 'The deployment is queued'),
  warnings: Warnings,
  unchanged_target_ids: UnchangedTargetIds,
})

export const NothingToDeploy = Strict({
  deployment_id: describe(Type.Null(), 'null: nothing was created', null),
  pending: describe(Type.Literal(false), 'false: nothing waits', false),
  message: Text('What happened, for people', 'Every target has release web 1.1.0 with these values already'),
  unchanged_target_ids: describe(Type.Array(Uuid), 'The targets that only_changed left out: all', [STORY.target]),
})

export const RedeployStarted = Strict({ ...DeploymentDetail.properties, warnings: Warnings })

export const Preview = Strict({
  plan: PlanView,
  warnings: describe(Type.Array(Type.String()), 'The warnings of a create, and a sentence for each blocker', [
    'Target "web-2" is stale',
  ]),
  blockers: Blockers,
  earliest_start: EarliestStart,
  target_summary: Strict(
    {
      total: Count('Targets of the plan', 2),
      online: Count('Those that are online', 1),
      offline: Count('Those that are offline', 0),
      stale: Count('Those that are stale', 1),
      environments: describe(
        Type.Array(
          Strict({
            id: NullableRef('environment', 'The environment; null: the targets have none'),
            name: NullableText('Its name', 'production'),
            count: Count('Targets in it', 2),
          }),
        ),
        'The targets by their environment: the one with the most first',
      ),
    },
    { description: 'The targets by status and environment' },
  ),
  queue: Strict(
    {
      ahead: Count(
        'Waiting requests that would start before it and compete with it, for its targets or for slots of the same instances. 0 if it would start at once, or not wait in the queue',
        0,
      ),
    },
    { description: 'Its place in the queue' },
  ),
  variables: describe(Variables, 'Values that hold for all targets; sensitive ones are `***`', { version: '1.1.0' }),
  source_type: SourceType,
  source_name: Text('Name of the source', 'storefront'),
  source_version: Text('The version that would be deployed', '1.1.0'),
  plan_hash: PlanHash,
  replaces: describe(Type.Array(Replacement), 'What is in force now on the targets of the plan'),
  unchanged_targets: describe(
    Type.Array(NamedRecord),
    'Targets with the same versions and values in force; only_changed leaves them out',
  ),
})

/** The answers with 200 to a create: of a dry run, and if `only_changed` leaves no target. */
export const Unstarted = Type.Union([Preview, NothingToDeploy])

/** Date and time in UTC without a zone. */
const PlainTime = (description: string, example = '2026-03-14 09:00:00') =>
  describe(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' }), `${description}, in UTC`, example)

/** The instances that a pending request needs, and those that there are now. */
export const InstancePool = Strict(
  {
    name: Text('The selector as text, such as `zone=a,!spot`; the same as the label of metrics', 'zone=eu-west-1'),
    selector: InstanceSelector,
    position: describe(Type.Integer({ minimum: 1 }), 'The place among the requests of this pool, from 1', 1),
    known: Count('Instances that serve the tenant of the request', 3),
    matching: Count('How many of them have the labels', 2),
    accepting: Count('How many of those take runs: online, compatible and not draining', 2),
    slots: Count('Slots of the instances that take runs', 8),
    taken: Count('How many of these slots are taken', 8),
  },
  { description: 'The instances that the request needs. Absent if any instance will do' },
)

const CANCEL_CAUSES = ['user', 'superseded', 'rejected', 'approval_expired', 'expired'] as const

/** How many targets a pending request names. */
export const PENDING_TARGETS = 5

export const PendingStatus = describe(
  literals(PENDING_STATES),
  'Where the request stands: `pending` waits, `processing` is being dispatched; the others are final',
  'pending',
)

export const PendingRequest = Strict(
  {
    id: Ref('pendingRequest', 'UUID of the request'),
    tenant_id: Type.Optional(Ref('tenant', 'The tenant that the deployment is for; absent: none')),
    tenant_name: Type.Optional(Text('Its name', 'Acme')),
    environment_id: Type.Optional(Ref('environment', 'The environment that the request names; absent: none')),
    environment_name: Type.Optional(Text('Its name', 'production')),
    source_type: SourceType,
    source_id: Ref('solution', 'What would be deployed, by UUID'),
    source_name: Text('Its name', 'storefront'),
    source_version: Text('The version that would be deployed', '1.1.0'),
    target_count: Count('How many targets the plan has', 2),
    targets: describe(
      Type.Array(NamedRecord, { maxItems: PENDING_TARGETS }),
      `The first targets of the plan, in its order, at most ${PENDING_TARGETS}; target_count counts all`,
    ),
    triggered_by: Type.Optional(Text('The name of the user who created it, also by an API key', 'pipeline')),
    queued_at: PlainTime('When the request was queued'),
    created_at: PlainTime('When the request was created'),
    retry_count: Count('How often dispatching it has failed', 0),
    status: PendingStatus,
    priority: Count('Priority in the queue, -100 to 100; a higher number starts first', 0),
    position: Type.Optional(
      describe(
        Type.Integer({ minimum: 1 }),
        'Place in the queue, from 1; absent unless the request waits in the queue: not for its start time, an approval or a window',
        1,
      ),
    ),
    waiting_for: Type.Optional(
      describe(literals(BLOCKER_CODES), 'What the request waits for; absent unless it waits', 'target_lock'),
    ),
    waiting_reason: Type.Optional(
      Text('The same for people, with names and numbers', 'Waits for web-1: a deployment of storefront works there'),
    ),
    held_targets: Type.Optional(
      describe(
        Type.Array(HeldTarget),
        'The targets that other deployments hold, at most 3, those held longest first; with `target_lock`',
      ),
    ),
    blockers: Type.Optional(Blockers),
    earliest_start: Type.Optional(EarliestStart),
    start_at: Type.Optional(Moment('It starts no earlier; absent: at once')),
    expires_at: Type.Optional(Moment('It starts before this moment or never; absent: at any time')),
    plan_hash: Type.Optional(
      Text('Stands for the plan that would run. Send it with an approval', 'p1.3kq9vZ0aT2m.7Hc1yQxL0pRw'),
    ),
    approvals: Type.Optional(Approvals),
    can_approve: Type.Optional(
      Flag('Whether the caller may approve it. Absent unless it waits; always false in streams and webhooks', false),
    ),
    instance_pool: Type.Optional(InstancePool),
    estimated_start: Type.Optional(
      PlainTime(
        'When it probably starts, from the usual length of runs; absent if that cannot be told',
        '2026-03-14 09:01:00',
      ),
    ),
    last_retry_at: Type.Optional(PlainTime('When dispatching it last failed; absent: never')),
    error_message: Type.Optional(
      Text(
        'Why dispatching it failed, which newer request replaced it, or who rejected it',
        'The target web-2 was deleted',
      ),
    ),
    deployment_id: Type.Optional(Ref('deployment', 'The deployment that it became; absent until it is dispatched')),
    dispatched_at: Type.Optional(PlainTime('When it was dispatched', '2026-03-14 09:01:00')),
    dispatched_to_instance_id: Type.Optional(Ref('instance', 'The instance that took the deployment, by UUID')),
    cancelled_because: Type.Optional(
      describe(
        literals(CANCEL_CAUSES),
        'Who or what cancelled it: a user, a newer request, an approver who rejected it, the end of the time for approvals, or `expires_at`',
        'superseded',
      ),
    ),
    superseded_by: Type.Optional(
      describe(
        Uuid,
        'The newer request of the same source that replaced it, or its deployment if that one started at once',
        STORY.request,
      ),
    ),
  },
  {
    description: 'A create that waits in the queue, or has waited there',
    examples: [
      {
        id: STORY.pendingRequest,
        environment_id: STORY.environment,
        environment_name: 'production',
        source_type: 'solution',
        source_id: STORY.solution,
        source_name: 'storefront',
        source_version: '1.1.0',
        target_count: 2,
        targets: [
          { id: STORY.target, name: 'web-1' },
          { id: STORY.secondTarget, name: 'web-2' },
        ],
        triggered_by: 'pipeline',
        queued_at: '2026-03-14 09:00:00',
        created_at: '2026-03-14 09:00:00',
        retry_count: 0,
        status: 'pending',
        priority: 0,
        position: 1,
        waiting_for: 'capacity',
        waiting_reason: 'All 4 slots of 1 orchestration instance are taken; it is next',
        blockers: [
          {
            code: 'capacity',
            message: 'All 4 slots of 1 orchestration instance are taken; it is next',
            until: '2026-03-14T09:01:00.000Z',
            can_override: false,
            details: {
              instances: { name: 'any', selector: null, known: 1, matching: 1, accepting: 1, slots: 4, taken: 4 },
            },
          },
        ],
        earliest_start: '2026-03-14T09:01:00.000Z',
        estimated_start: '2026-03-14 09:01:00',
      },
    ],
  },
)

export const PendingDetail = Strict({
  ...PendingRequest.properties,
  plan: Type.Optional(
    describe(PlanView, 'The plan that would run, with secrets masked; absent unless the request waits'),
  ),
  replaces: Type.Optional(
    describe(
      Type.Array(Replacement),
      'What is in force now on the targets of the plan; absent unless the request waits',
    ),
  ),
})

export const Analysis = Strict(
  {
    confidence: describe(Type.Number({ minimum: 0, maximum: 1 }), 'How sure the explanation is: 1 is certain', 0.9),
    summary: Text('What happened, in a sentence', 'The port 8080 is taken'),
    likely_cause: Text('Why it probably happened', 'The process of the version before still runs'),
    remediation: describe(Type.Array(Type.String()), 'What to do, in order', ['Stop the process that has the port']),
    analyzed_at: Moment('When the explanation was made', MOMENTS.ended),
    model_version: Text('The rules (rules-3), or the model of the configured endpoint', 'rules-2'),
    fingerprint: Text('The same for failures of one kind, on any target', 'port-in-use'),
  },
  { description: 'The explanation of a failed command' },
)

export const LogEntry = Strict({
  id: Ref('logLine', 'UUID of the line, computed from the deployment and its number'),
  timestamp: Moment('When the line was written', MOMENTS.started),
  level: Text('`info`, `warning` or `error`', 'info'),
  event_type: Text('Always `log`', 'log'),
  step_id: NullableRef('step', 'The step that wrote it; null: the line is about the whole deployment'),
  target_id: NullableRef('target', 'The target of the step; null: none'),
  target_name: NullableText('Its name; null: none', 'web-1'),
  message: Text('The line, with secrets masked', 'nginx restarted'),
  stdout: NullableText('The line, if the command wrote it to standard output', 'nginx restarted'),
  stderr: NullableText('The line, if the command wrote it to standard error', null),
  metadata: describe(
    Nullable(Type.Record(Type.String(), Type.Unknown())),
    'More about the line. `seq` is its number in the deployment, from 0',
    { seq: 7 },
  ),
  analysis: describe(Nullable(Analysis), 'The explanation, on the line that tells that a command failed; else null'),
})

export const CommandResult = Strict({
  id: Ref('step', 'UUID of the step'),
  target_id: Ref('target', 'The target, by UUID'),
  target_name: Type.Optional(Text('Its name', 'web-1')),
  action_name: Type.Optional(Text('Name of the action', 'restart web')),
  action_version: Type.Optional(Text('Version of the action', '1.2.0')),
  status: Text('How the last attempt ended: `completed`, `failed` or `cancelled`', 'failed'),
  exit_code: Type.Optional(Count('Exit code of the last attempt; absent: it has none', 1)),
  stdout_tail: Type.Optional(
    Text('The last 2,000 characters of the standard output, with secrets masked', 'restarting nginx'),
  ),
  stderr_tail: Type.Optional(
    Text('The last 2,000 characters of the standard error, with secrets masked', 'bind: address already in use'),
  ),
  error_message: Type.Optional(Text('Why the command failed or was cancelled', 'exit code 1')),
  failure_reason: Type.Optional(
    describe(
      literals(COMMAND_FAILURE_REASONS),
      'Why the command failed; absent where its exit code or its output tells',
      'step_timeout',
    ),
  ),
  dropped_lines: Count(
    'How many lines of its output, over all attempts, were dropped because the log had reached its limit of bytes',
    0,
  ),
  started_at: Moment('When the start of the last attempt was recorded, which is before it began', MOMENTS.started),
  completed_at: Moment('When the last attempt ended', MOMENTS.ended),
  duration_ms: Count('Milliseconds from started_at to completed_at', 42_000),
  analysis: Type.Optional(Analysis),
})
