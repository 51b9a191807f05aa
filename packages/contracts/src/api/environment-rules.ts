import { Type } from '@sinclair/typebox'
import { MAX_RECURRENCE_LENGTH } from '@slipway/domain'
import { Count, describe, Flag, Id, Moment, Nullable, NullableMoment, Ref, Strict, Text, Timestamp } from '../schema.ts'
import { STORY } from '../story.ts'

const MAX_WINDOWS = 20

const ApprovalCount = describe(Type.Integer({ minimum: 1, maximum: 5 }), 'How many users must approve, 1 to 5', 2)
const ApprovalSeconds = describe(
  Type.Integer({ minimum: 60, maximum: 2_592_000 }),
  'Seconds after which a request that still misses an approval ends, from queued_at or a later start_at',
  86_400,
)
const AllowAuthor = Flag('Whether the author of a request may approve it', false)
const RoleName = describe(
  Nullable(Type.String({ maxLength: 255 })),
  'The name of the role that approvers need; null: every holder of deployments:approve approves',
  'release-manager',
)

const Window = Strict({
  start_time: describe(Timestamp, 'When the first window begins', '2026-12-07T09:00:00Z'),
  end_time: describe(Timestamp, 'When the first window ends; after start_time', '2026-12-07T16:00:00Z'),
  recurrence: Type.Optional(
    describe(
      Nullable(Type.String({ maxLength: MAX_RECURRENCE_LENGTH })),
      'The RFC 5545 RRULE that repeats the window, as for freezes',
      'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH',
    ),
  ),
  time_zone: Type.Optional(
    describe(Nullable(Type.String({ maxLength: 64 })), 'The IANA time zone of the recurrence', 'Europe/Zurich'),
  ),
})
const Windows = describe(
  Type.Array(Window, { minItems: 1, maxItems: MAX_WINDOWS }),
  'Deployments start only inside one of these windows: from its start until just before its end. The fields are those of freezes',
)

const Hours = describe(Type.Integer({ minimum: 0, maximum: 8_760 }), 'For how many hours it must be in force there', 24)

/** A rule that `null` takes away. */
const given = {
  approvals: Type.Optional(
    Strict(
      {
        count: Type.Optional(ApprovalCount),
        role: Type.Optional(RoleName),
        allow_author: Type.Optional(AllowAuthor),
        expires_in_seconds: Type.Optional(ApprovalSeconds),
      },
      {
        description:
          'Deployments need approvals: one of any holder of deployments:approve within a day, if nothing else is said',
      },
    ),
  ),
  windows: Type.Optional(Windows),
  promotion: Type.Optional(
    Strict(
      {
        from_environment_id: Id('environment', 'The environment in which the version must be in force before'),
        hours: Type.Optional(Hours),
      },
      {
        description:
          'A version is deployed only if it is in force in another environment, on all its targets and without drift. Going back ' +
          'to what was in force here before is always allowed',
      },
    ),
  ),
}

/** The members of rules. A member that is left out asks for nothing. */
export const RULES = given

export const GivenRules = describe(
  Nullable(Type.Object(given, { additionalProperties: false, minProperties: 1 })),
  'What deployments to the environment, and to its targets, need before they start; null: nothing. A change replaces all of it',
)

export const ShownRules = describe(
  Nullable(
    Strict({
      approvals: Type.Optional(
        Strict(
          {
            count: ApprovalCount,
            role: RoleName,
            allow_author: AllowAuthor,
            expires_in_seconds: ApprovalSeconds,
          },
          { description: 'The approvals that deployments need' },
        ),
      ),
      windows: Type.Optional(Windows),
      promotion: Type.Optional(
        Strict(
          {
            from_environment_id: Ref('environment', 'The environment in which the version must be in force before'),
            hours: Hours,
          },
          { description: 'Where a version must be in force before' },
        ),
      ),
    }),
  ),
  'What deployments to the environment, and to its targets, need before they start; null: nothing',
)

export const ApprovalRuleState = Strict({
  environment_id: Ref('environment', 'The environment whose rule asks'),
  environment_name: Text('Its name', 'production'),
  count: ApprovalCount,
  role: RoleName,
  allow_author: AllowAuthor,
  missing: Count('How many approvals are missing', 1),
})

export const GivenApproval = Strict({
  user_id: Ref('user', 'The user who approved, by UUID'),
  user_name: Text('The name of the user', 'mia'),
  at: Moment('When it was given'),
  comment: describe(Nullable(Type.String()), 'What the user wrote; null: nothing', 'Tested on staging'),
})

export const Approvals = Strict(
  {
    rules: Type.Array(ApprovalRuleState, { description: 'All rules that ask for approvals' }),
    given: Type.Array(GivenApproval, { description: 'The approvals, in the order in which they were given' }),
    expires_at: Moment('When the request ends if an approval is still missing', '2026-03-15T09:00:00.000Z'),
  },
  { description: 'The approvals that the request needs; absent if no rule asks for any' },
)

export const Approve = Strict({
  plan_hash: Type.Optional(
    Text(
      'The plan_hash of the request that was looked at. If it is another one: 409 CONFLICT',
      'p1.3kq9vZ0aT2m.7Hc1yQxL0pRw',
    ),
  ),
  comment: Type.Optional(
    describe(Type.String({ maxLength: 10_000 }), 'For people; the audit record has it', 'Tested on staging'),
  ),
})
export const Reject = Strict({ comment: Approve.properties.comment })

export const MissingPromotion = Strict(
  {
    from_environment_id: Ref('environment', 'The environment in which the version must be in force before'),
    from_environment_name: Text('Its name', 'staging'),
    version: Text('The version that was asked for', '1.1.0'),
    versions: describe(
      Type.Array(
        Strict({
          version: Text('A version that is in force there', '1.0.0'),
          targets: Count('On how many targets', 2),
        }),
      ),
      'What is in force there',
    ),
    drifted_targets: Count('How many of these targets have drifted', 0),
    since: NullableMoment('Since when this is so; null: the source is not in force there'),
    ready_at: NullableMoment('When the version may go on; null unless only time is missing'),
  },
  { description: 'What is missing before a version may be deployed to the next environment' },
)

export const Promotion = Strict({
  version: describe(
    Nullable(Type.String()),
    'The version in force in the first environment; null: there is none, or there are several',
    '1.1.0',
  ),
  since: NullableMoment('Since when it is in force on all its targets; null: there is no such version'),
  ready_at: NullableMoment('When it may go on to the second environment; null: it may not, or at any time'),
  deployment_id: describe(
    Nullable(Type.String()),
    'A deployment that put it in force there, for versions_of; null: there is no such version',
    STORY.formerDeployment,
  ),
  blockers: describe(Type.Array(Type.String()), 'Why it may not go on now, in sentences. Empty: it may', []),
  target_ids: describe(
    Type.Array(Ref('target')),
    'The targets of the second environment on which the source is in force, by UUID',
  ),
})
