import { Type } from '@sinclair/typebox'
import { BLOCKER_CODES, InstanceSelector } from '@slipway/domain'
import { Count, describe, Flag, literals, Moment, Nullable, NullableMoment, Ref, Strict, Text } from '../schema.ts'
import { ApprovalRuleState, GivenApproval, MissingPromotion } from './environment-rules.ts'

/** A target that a deployment holds. */
export const HeldTarget = Strict({
  target_id: Ref('target', 'The target, by UUID'),
  target_name: Text('Its name', 'web-1'),
  deployment_id: Type.Optional(
    Ref('formerDeployment', 'The deployment that holds the target; absent if it is of another tenant'),
  ),
  since: Moment('Since when that deployment holds the target'),
})

const ActiveFreeze = Strict({
  id: Ref('freeze', 'The freeze, by UUID'),
  name: Text('Its name', 'year end'),
  ends_at: Moment('When its present window ends'),
  target_ids: Type.Optional(
    describe(
      Type.Array(Ref('target')),
      'The targets because of which it applies; absent if it covers the deployment itself',
    ),
  ),
})

export const BlockerDetails = Strict(
  {
    start_at: Type.Optional(Moment('When it may start; with `start_time`')),
    rules: Type.Optional(describe(Type.Array(ApprovalRuleState), 'The rules that miss approvals; with `approval`')),
    given: Type.Optional(describe(Type.Array(GivenApproval), 'The approvals so far; with `approval`')),
    expires_at: Type.Optional(Moment('When the request ends without them; with `approval`')),
    environments: Type.Optional(
      describe(
        Type.Array(
          Strict({
            environment_id: Ref('environment', 'The environment, by UUID'),
            environment_name: Text('Its name', 'production'),
          }),
        ),
        'The environments that are outside of their windows; with `window`',
      ),
    ),
    promotions: Type.Optional(
      describe(Type.Array(MissingPromotion), 'What the version misses before it may go on; with `promotion`'),
    ),
    freezes: Type.Optional(
      describe(Type.Array(ActiveFreeze), 'The freezes, without those of other tenants; with `freeze`'),
    ),
    instances: Type.Optional(
      describe(
        Strict({
          name: Text('The selector as text; `any` if every instance will do', 'zone=eu-west-1'),
          selector: describe(Nullable(InstanceSelector), 'The labels that it needs; null: every instance will do'),
          known: Count('Instances that serve the tenant', 3),
          matching: Count('How many of them have the labels', 2),
          accepting: Count('How many of those take runs: online, compatible and not draining', 2),
          slots: Count('Slots of the instances that take runs', 8),
          taken: Count('How many of these slots are taken', 8),
        }),
        'The instances that the deployment needs; with `instance_pool`, `no_compatible_instance` and `capacity`',
      ),
    ),
    running: Type.Optional(Count('How many deployments the tenant runs; with `tenant_limit`', 4)),
    limit: Type.Optional(Count('How many a tenant may run at once; with `tenant_limit`', 4)),
    held_targets: Type.Optional(
      describe(
        Type.Array(HeldTarget),
        'The targets that other deployments hold, at most 3, those held longest first; with `target_lock`',
      ),
    ),
    held_count: Type.Optional(Count('How many targets other deployments hold; with `target_lock`', 1)),
    reserved_targets: Type.Optional(
      describe(
        Type.Array(Strict({ target_id: Ref('target', 'The target, by UUID'), target_name: Text('Its name', 'web-1') })),
        'Free targets for which an earlier request comes first, at most 3; with `target_lock`',
      ),
    ),
    reserved_count: Type.Optional(Count('How many such targets there are; with `target_lock`', 0)),
  },
  { description: 'What blocks. Only the members of the code are there' },
)

export const Blocker = Strict(
  {
    code: describe(literals(BLOCKER_CODES), 'What keeps the deployment from starting', 'capacity'),
    message: Text(
      'The same for people, with names and numbers',
      'All 4 slots of 1 orchestration instance are taken; it is next',
    ),
    until: NullableMoment('When it blocks no more; null: nobody can know'),
    can_override: Flag(
      'Whether the caller may start the deployment in spite of it. Always false in streams and webhooks',
      false,
    ),
    details: BlockerDetails,
  },
  { description: 'A reason that keeps a deployment from starting' },
)

export const Blockers = describe(
  Type.Array(Blocker),
  'All reasons that keep it from starting, one for each code, in the order start_time, approval, window, promotion, freeze, instance_pool, no_compatible_instance, tenant_limit, target_lock, capacity. Empty: it can start',
)

export const EarliestStart = NullableMoment(
  'The latest `until` of the blockers; null if one of them has none. The present time if there is no blocker',
)
