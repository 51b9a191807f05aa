import { Type } from '@sinclair/typebox'
import { FailureStrategy, RollbackStrategy, SourceType, TargetMode } from '../api/deployments.ts'
import { Nullable, Strict, Uuid } from '../schema.ts'

const Values = Type.Record(Type.String(), Type.Unknown())

/** Who asked; travels with every command so that what it causes can be attributed. */
export const Caller = Strict({
  user_id: Uuid,
  username: Type.String(),
  tenant_id: Nullable(Uuid),
  roles: Type.Array(Type.String()),
  /** The address of the request, for the audit log. */
  ip: Type.String(),
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

export const NamedRecord = Strict({ id: Uuid, name: Type.String() })

/** Schema of the domain's `Plan`. Values of sensitive names are sealed in it. */
export const Plan = Strict({
  source: Strict({ type: SourceType, id: Uuid, name: Type.String(), version: Type.String() }),
  tenant: Nullable(NamedRecord),
  environment: Nullable(NamedRecord),
  actions: Type.Array(
    Strict({
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
      variables: Values,
    }),
  ),
  targets: Type.Array(Strict({ id: Uuid, name: Type.String(), variables: Values })),
  shared_variables: Values,
  override_variables: Values,
  sensitive: Type.Array(Type.String()),
  /** The command that made the plan; sealed values are bound to it. */
  sealed_under: Uuid,
  options: PlanOptions,
})

/** What the request chose, as `config` of a deployment shows it and a redeploy repeats it. */
export const Selection = Strict({
  target_ids: Type.Array(Uuid),
  target_tags: Type.Array(Strict({ key: Type.String(), value: Type.String() })),
  target_tags_match_all: Type.Boolean(),
  version_requirement: Nullable(Type.String()),
})
