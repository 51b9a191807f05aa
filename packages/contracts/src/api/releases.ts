import { Type } from '@sinclair/typebox'
import { CHECK_RESULTS, NamedRecord, RELEASE_STATES, SHOWN_RELEASE_STATES, SourceType } from '@slipway/domain'
import {
  Count,
  describe,
  Flag,
  literals,
  Moment,
  Nullable,
  NullableMoment,
  NullableRef,
  NullableText,
  Ref,
  Strict,
  Text,
} from '../schema.ts'
import { MOMENTS } from '../story.ts'

const source = {
  source_type: SourceType,
  source_id: Ref('solution', 'The source, by UUID'),
  source_name: Text('Its name', 'storefront'),
}

const STATE_OF_RELEASE =
  'What became of a deployment on one target. It is applied when all its commands on the target have succeeded there, or, ' +
  'where failures are ignored, have been executed.'

const ReleaseState = describe(literals(RELEASE_STATES), STATE_OF_RELEASE, 'failed')

export const ShownReleaseState = describe(
  literals(SHOWN_RELEASE_STATES),
  'The state of the last attempt; `drifted` if a check found the version in force changed and no attempt runs',
  'applied',
)

/** What checks found of the version in force on a target. */
export const ReleaseCheck = Strict({
  result: describe(
    Nullable(literals(CHECK_RESULTS)),
    'Of the last check. `unknown`: the check could not be done. Null before the first check',
    'in_sync',
  ),
  checked_at: NullableMoment('When the last check ended; null: none has ended', MOMENTS.later),
  drifted_since: NullableMoment(
    'When a check first found the target drifted. A check that could not be done does not end it',
    null,
  ),
  message: NullableText('Where the target is not in sync: the end of what the check wrote', null),
  is_pending: Flag('Whether a check runs or was asked for', false),
  next_at: NullableMoment('When the next check is due; null: on request only, or as soon as possible', MOMENTS.later),
})

const Check = describe(
  Nullable(ReleaseCheck),
  'What checks found. Null if nothing is in force on the target, or none of its actions declares a check',
)

/** An attempt of a deployment on one target. */
const attempt = {
  deployment_id: Ref('deployment', 'The deployment, by UUID. Retention may have deleted it'),
  version: Text('The version that it deployed', '1.1.0'),
  state: ReleaseState,
  triggered_by: NullableText('The name of the user who created the deployment', 'pipeline'),
  begun_at: Moment('When its first command on the target started', MOMENTS.started),
  ended_at: NullableMoment('When it had nothing left to do on the target; null: not yet', MOMENTS.ended),
}

const ValuesHash = describe(
  Nullable(Type.String()),
  'Equal for equal versions of all actions and equal values of all variables on the target, layer by layer.',
  '7Hc1yQxL0pRw',
)

const Variant = NullableText(
  'Equal for equal versions of the source and of everything that it is made of. Null for a single action',
  '5f0c1e9a77b2d340',
)

/** What is in force of a source on a target. */
export const Installed = Strict({
  target_id: Ref('target', 'The target, by UUID'),
  target_name: Text('Its name', 'web-1'),
  ...source,
  tenant_id: NullableRef('tenant', 'The tenant of the deployment; null: none', null),
  tenant_name: NullableText('Its name', null),
  environment_id: NullableRef('environment', 'The environment of the target; if it has none, that of the deployment'),
  environment_name: NullableText('Its name', 'production'),
  state: ShownReleaseState,
  version: NullableText('The version that was applied last and not rolled back; null for none', '1.1.0'),
  variant: Variant,
  variants: Count('How many variants of this version are in force on the targets that the filters leave', 1),
  deployment_id: NullableRef('deployment', 'The deployment that applied it; null for none'),
  values_hash: ValuesHash,
  applied_at: NullableMoment('When it was applied; null: nothing is in force', MOMENTS.ended),
  applied_by: NullableText('The name of the user who created that deployment', 'pipeline'),
  last_attempt: describe(
    Nullable(Strict(attempt)),
    'The last attempt, if it is not applied: it runs, failed, was cancelled or was rolled back',
    null,
  ),
  check: Check,
})

/** An entry of the history of a target. */
export const Release = Strict({
  ...source,
  ...attempt,
  state: describe(
    literals(SHOWN_RELEASE_STATES),
    `${STATE_OF_RELEASE} It has drifted if a check found the version in force changed.`,
    'applied',
  ),
  check: Check,
  variant: Variant,
  values_hash: ValuesHash,
  is_current: Flag('Whether this version is in force on the target now'),
  replaced_deployment_id: NullableRef(
    'formerDeployment',
    'The deployment that was in force on the target when this one began; null: none was',
  ),
  repeats_deployment_id: NullableRef(
    'formerDeployment',
    'The earlier deployment that this one repeats, with the same versions, variables and environment in its request, if ' +
      'it was applied on the target. So this one is a way back to it. Null: none',
    null,
  ),
})

const MatrixCell = Strict({
  environment_id: NullableRef('environment', 'The environment of the targets; null: they have none'),
  environment_name: NullableText('Its name', 'production'),
  environment_position: describe(
    Nullable(Type.Integer()),
    'Its place: cells come by it, then by name; null: after all numbers',
    30,
  ),
  tenant_id: NullableRef('tenant', 'The tenant of the deployments; null: none', null),
  tenant_name: NullableText('Its name', null),
  versions: describe(
    Type.Array(
      Strict({
        version: Text('The version', '1.1.0'),
        variants: Count(
          'How many variants of it the targets have: they differ in the versions of what the source is made of',
          1,
        ),
        target_count: Count('How many targets have it', 2),
        applied_at: Moment('When it was last applied to one of them', MOMENTS.ended),
        applied_by: NullableText('The name of the user who created that deployment', 'pipeline'),
        deployment_id: Ref('deployment', 'The deployment that did it'),
      }),
    ),
    'The versions in force, the highest first',
  ),
  target_count: Count('Targets with a version in force or an attempt', 2),
  running: Count('Targets with an attempt that runs or rolls back', 0),
  failed: Count('Targets with a last attempt that failed or was rolled back', 0),
  drifted: Count('Targets on which a check found the version in force changed', 0),
})

/** A row of the matrix. */
export const MatrixRow = Strict({
  ...source,
  cells: describe(Type.Array(MatrixCell), 'A cell for each environment and tenant with releases of the source'),
})

const Difference = Strict(
  {
    versions: describe(
      Type.Array(
        Strict({
          kind: SourceType,
          id: Ref('solution', 'The source or a part of it, by UUID'),
          name: Text('Its name', 'storefront'),
          before: NullableText('The version before. Null: not part of the deployment before', '1.0.0'),
          after: NullableText('The version after. Null: not part of this deployment', '1.1.0'),
        }),
      ),
      'The source and everything that it is made of, where the version differs',
    ),
    variables: describe(
      Type.Array(
        Strict({
          name: Text('Name of the variable', 'version'),
          before: Type.Optional(describe(Type.Unknown(), 'The value before. Absent: it had no value', '1.0.0')),
          after: Type.Optional(describe(Type.Unknown(), 'The value after. Absent: it has no value', '1.1.0')),
        }),
      ),
      'Values that differ, without those of targets; sensitive ones are masked',
    ),
  },
  { description: 'What the deployment changes' },
)

/** What a deployment replaces on some of its targets. */
export const Replacement = Strict({
  deployment_id: NullableRef('formerDeployment', 'The deployment in force there; null: nothing is'),
  version: NullableText('Its version; null: nothing is in force', '1.0.0'),
  applied_at: NullableMoment('When it was applied', MOMENTS.made),
  applied_by: NullableText('The name of the user who created it', 'pipeline'),
  target_count: Count('How many targets have it in force', 2),
  targets: describe(Type.Array(NamedRecord), 'The first 100 of them'),
  unchanged_count: Count('Those of them with the same versions and values', 0),
  difference: describe(
    Nullable(Difference),
    'Null: nothing is in force there, retention has deleted that deployment, or 20 others are in force on more targets',
  ),
})

export const Replacements = Strict({
  replaces: describe(Type.Array(Replacement), 'What was in force before, one entry for each deployment'),
})

/** What a rollback of a source would bring back. */
export const Rollback = Strict({
  groups: describe(
    Type.Array(
      Strict({
        deployment_id: NullableRef(
          'formerDeployment',
          'The deployment to repeat with redeployDeployment and these target_ids; null: there is no release before',
        ),
        version: NullableText('Its version; null: there is none, or it is too old to be known', '1.0.0'),
        targets: describe(Type.Array(NamedRecord), 'The targets that go back to it'),
      }),
    ),
    'The targets by the release before the present one, the largest group first',
  ),
  running: describe(
    Type.Array(
      Strict({
        deployment_id: Ref('deployment', 'The deployment'),
        target_id: Ref('target', 'The target, by UUID'),
        target_name: Text('Its name', 'web-1'),
      }),
    ),
    'Deployments of the source that run on these targets: end them first',
  ),
})
