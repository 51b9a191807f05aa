import { type Static, Type } from '@sinclair/typebox'
import { InstanceSelector } from './instance-selector.ts'
import { describe, literals, Nullable, Strict, Uuid } from './schema.ts'

export const SourceType = describe(
  literals(['solution', 'sequence', 'action']),
  'The kind of the source: a solution (sequences), a sequence (actions) or a single action',
  'solution',
)
export const TargetMode = Type.Unsafe<'sequential' | 'parallel' | { rolling: { batch_size: number } }>({
  description:
    '`sequential`: one target after the other (the default); `parallel`: all at once; `rolling`: batches of ' +
    '`batch_size` targets, and a batch begins when all targets of the one before have ended',
  examples: [{ rolling: { batch_size: 1 } }, 'parallel'],
  if: { type: 'string' },
  then: { enum: ['sequential', 'parallel'] },
  else: {
    type: 'object',
    required: ['rolling'],
    additionalProperties: false,
    properties: {
      rolling: {
        type: 'object',
        description: 'Rolling deployment: a part of the targets at a time',
        required: ['batch_size'],
        additionalProperties: false,
        properties: {
          batch_size: {
            type: 'integer',
            minimum: 1,
            maximum: 1_000_000,
            description: 'Targets in a batch; the deployment works on them at the same time',
            examples: [1],
          },
        },
      },
    },
  },
})
export const FAILURE_STRATEGIES = ['stop_on_first_failure', 'continue_on_failure', 'ignore_failures'] as const
export const ROLLBACK_STRATEGIES = ['none', 'failed_target_only', 'all_executed'] as const

export const FailureStrategy = describe(
  literals(FAILURE_STRATEGIES),
  'What a failed command stops: `stop_on_first_failure` (the default) starts nothing more anywhere, while commands that run ' +
    'finish; `continue_on_failure` skips the rest of that target only; `ignore_failures` goes on everywhere, and the ' +
    'deployment ends with success if any step completed',
  'stop_on_first_failure',
)
export const RollbackStrategy = describe(
  literals(ROLLBACK_STRATEGIES),
  'Whose rollback scripts run after a failure: `none` (the default); `failed_target_only`, of the targets on which a step ' +
    'failed; `all_executed`, of every target with executed steps',
  'failed_target_only',
)

/** Values by variable name. */
export const VariableValues = Type.Record(Type.String(), Type.Unknown())

export const NamedRecord = Strict({
  id: describe(Uuid, 'The record, by UUID', '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a04'),
  name: describe(Type.String(), 'Its name', 'web-1'),
})

export const PlanOptions = Strict({
  target_mode: TargetMode,
  failure_strategy: FailureStrategy,
  rollback_strategy: RollbackStrategy,
  priority: Type.Integer(),
  timeout_seconds: Type.Integer(),
  max_retries: Type.Integer(),
  deployment_timeout_seconds: Type.Integer(),
  bypass_cache: Type.Boolean(),
})

/** One column of the plan: an action. Its index in the plan is the order of execution on a target. */
export const PlannedAction = Strict({
  sequence_id: Uuid,
  sequence_name: Type.String(),
  sequence_version: Type.String(),
  sequence_order: Type.Integer(),
  action_id: Uuid,
  action_name: Type.String(),
  action_version: Type.String(),
  action_order: Type.Integer(),
  timeout_seconds: Type.Integer(),
  max_retries: Type.Integer(),
  has_rollback: Type.Boolean(),
  /** Layer 1: defaults (action < sequence < solution), then entries (sequence entry < solution entry). */
  variables: VariableValues,
})

/** One row of the plan: a target. */
export const PlannedTarget = Strict({
  id: Uuid,
  name: Type.String(),
  /** Layer 3. */
  variables: VariableValues,
  /** Equal for equal versions and values. Absent until the planner has computed the hashes of the complete plan. */
  values_hash: Type.Optional(Type.String()),
})

/** A plan without its actions and targets. */
export const PlanHead = Strict({
  source: Strict({ type: SourceType, id: Uuid, name: Type.String(), version: Type.String() }),
  tenant: Nullable(NamedRecord),
  environment: Nullable(NamedRecord),
  /** Layer 2: tenant < environment. */
  shared_variables: VariableValues,
  /** Layer 4: variables of the request < prompted_values. */
  override_variables: VariableValues,
  /** Names of the variables whose values are sealed outside the planner. */
  sensitive: Type.Array(Type.String()),
  /** The id of the command message that the plan was made for. Sealed values are bound to it. */
  sealed_under: Uuid,
  options: PlanOptions,
  /** What the selectors of all its records require of the instance, in canonical form. Absent if any instance will do. */
  instance_selector: Type.Optional(InstanceSelector),
})

/**
 * The result of planning: immutable and compact (targets × actions, not multiplied into steps). A step gets the value of each
 * variable from the highest layer.
 */
export const Plan = Strict({
  ...PlanHead.properties,
  actions: Type.Array(PlannedAction),
  targets: Type.Array(PlannedTarget),
})

export type SourceType = Static<typeof SourceType>
export type TargetMode = Static<typeof TargetMode>
export type FailureStrategy = Static<typeof FailureStrategy>
export type RollbackStrategy = Static<typeof RollbackStrategy>
export type VariableValues = Static<typeof VariableValues>
export type PlanOptions = Static<typeof PlanOptions>
export type PlannedAction = Static<typeof PlannedAction>
export type PlannedTarget = Static<typeof PlannedTarget>
export type PlanHead = Static<typeof PlanHead>
export type Plan = Static<typeof Plan>
