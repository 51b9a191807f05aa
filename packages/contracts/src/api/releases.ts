import { Type } from '@sinclair/typebox'
import { CHECK_RESULTS, NamedRecord, RELEASE_STATES, SHOWN_RELEASE_STATES, SourceType } from '@slipway/domain'
import { literals, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'

const text = Nullable(Type.String())
const source = { source_type: SourceType, source_id: Uuid, source_name: Type.String() }

const ReleaseState = withOptions(literals(RELEASE_STATES), {
  description:
    'What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, ' +
    'where failures are ignored, have been executed.',
})

const ShownState = withOptions(literals(SHOWN_RELEASE_STATES), {
  description:
    'The state of the last attempt; `drifted` if a check found the version in force changed and no attempt runs',
})

/** What checks found of the version in force on a target. */
export const ReleaseCheck = Strict({
  result: withOptions(Nullable(literals(CHECK_RESULTS)), {
    description: 'Of the last check. `unknown`: the check could not be done. Null before the first check',
  }),
  checked_at: Nullable(Timestamp),
  drifted_since: withOptions(Nullable(Timestamp), {
    description: 'When a check first found the target drifted. A check that could not be done does not end it',
  }),
  message: withOptions(text, { description: 'Where the target is not in sync: the end of what the check wrote' }),
  is_pending: Type.Boolean({ description: 'Whether a check runs or was asked for' }),
  next_at: withOptions(Nullable(Timestamp), {
    description: 'When the next check is due; null: on request only, or as soon as possible',
  }),
})

const Check = withOptions(Nullable(ReleaseCheck), {
  description: 'Null if nothing is in force on the target, or none of its actions declares a check',
})

/** An attempt of a deployment on one target. */
const attempt = {
  deployment_id: withOptions(Uuid, { description: 'Retention may have deleted the deployment' }),
  version: Type.String(),
  state: ReleaseState,
  triggered_by: text,
  begun_at: Timestamp,
  ended_at: Nullable(Timestamp),
}

const ValuesHash = Nullable(
  Type.String({
    description:
      'Equal for equal versions of all actions and equal values of all variables on the target, layer by layer. Null for ' +
      'deployments of earlier releases of Slipway.',
  }),
)

/** What is in force of a source on a target. */
export const Installed = Strict({
  target_id: Uuid,
  target_name: Type.String(),
  ...source,
  tenant_id: Nullable(Uuid),
  tenant_name: text,
  environment_id: withOptions(Nullable(Uuid), {
    description: 'The environment of the target; if it has none, that of the deployment',
  }),
  environment_name: text,
  state: ShownState,
  version: withOptions(text, { description: 'The version that was applied last and not rolled back; null for none' }),
  deployment_id: Nullable(Uuid),
  values_hash: ValuesHash,
  applied_at: Nullable(Timestamp),
  applied_by: text,
  last_attempt: withOptions(Nullable(Strict(attempt)), {
    description: 'The last attempt, if it is not applied: it runs, failed, was cancelled or was rolled back',
  }),
  check: Check,
})

/** An entry of the history of a target. */
export const Release = Strict({
  ...source,
  ...attempt,
  state: withOptions(literals(SHOWN_RELEASE_STATES), {
    description: `${ReleaseState.description}. It has drifted if a check found the version in force changed.`,
  }),
  check: Check,
  values_hash: ValuesHash,
  is_current: Type.Boolean({ description: 'Whether this version is in force on the target now' }),
  replaced_deployment_id: withOptions(Nullable(Uuid), {
    description: 'The deployment that was in force on the target when this one began',
  }),
})

const MatrixCell = Strict({
  environment_id: Nullable(Uuid),
  environment_name: text,
  tenant_id: Nullable(Uuid),
  tenant_name: text,
  versions: Type.Array(
    Strict({
      version: Type.String(),
      target_count: Type.Integer(),
      applied_at: withOptions(Timestamp, { description: 'When it was last applied to one of them' }),
      applied_by: text,
      deployment_id: withOptions(Uuid, { description: 'The deployment that did it' }),
    }),
    { description: 'The versions in force, the newest first' },
  ),
  target_count: Type.Integer({ description: 'Targets with a version in force or an attempt' }),
  running: Type.Integer({ description: 'Targets with an attempt that runs or rolls back' }),
  failed: Type.Integer({ description: 'Targets with a last attempt that failed, was cancelled or was rolled back' }),
  drifted: Type.Integer({ description: 'Targets on which a check found the version in force changed' }),
})

/** A row of the matrix. */
export const MatrixRow = Strict({ ...source, cells: Type.Array(MatrixCell) })

const Difference = Strict({
  versions: Type.Array(
    Strict({
      kind: SourceType,
      id: Uuid,
      name: Type.String(),
      before: withOptions(text, { description: 'Null: not part of the deployment before' }),
      after: withOptions(text, { description: 'Null: not part of this deployment' }),
    }),
    { description: 'The source and everything that it is made of, where the version differs' },
  ),
  variables: Type.Array(
    Strict({
      name: Type.String(),
      before: withOptions(Type.Optional(Type.Unknown()), { description: 'Absent: it had no value' }),
      after: withOptions(Type.Optional(Type.Unknown()), { description: 'Absent: it has no value' }),
    }),
    { description: 'Values that differ, without those of targets; sensitive ones are masked' },
  ),
})

/** What a deployment replaces on some of its targets. */
export const Replacement = Strict({
  deployment_id: withOptions(Nullable(Uuid), { description: 'The deployment in force there; null: nothing is' }),
  version: text,
  applied_at: Nullable(Timestamp),
  applied_by: text,
  target_count: Type.Integer(),
  targets: Type.Array(NamedRecord, { description: 'The first 100 of them' }),
  unchanged_count: Type.Integer({ description: 'Those of them with the same versions and values' }),
  difference: withOptions(Nullable(Difference), {
    description: 'Null: nothing is in force there, or retention has deleted that deployment',
  }),
})

export const Replacements = Strict({ replaces: Type.Array(Replacement) })
