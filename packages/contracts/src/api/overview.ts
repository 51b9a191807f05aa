import { Type } from '@sinclair/typebox'
import { BLOCKER_CODES } from '@slipway/domain'
import {
  Count,
  describe,
  literals,
  Moment,
  Nullable,
  NullableMoment,
  NullableText,
  Ref,
  Strict,
  Text,
} from '../schema.ts'
import { MOMENTS } from '../story.ts'
import { Instance } from './administration.ts'
import { DeploymentSummary } from './deployments.ts'

/** The most entries that an overview shows of each kind. */
export const OVERVIEW_LIMITS = {
  running: 20,
  ended: 6,
  /** Kinds of failures, and deployments of each. */
  failures: 20,
  deploymentsOfFailure: 5,
  /** Sources that a reason of the queue names. */
  sources: 3,
  instances: 8,
  nextFreezes: 3,
} as const

const Counts = Strict(
  {
    running: Count('Deployments that run or roll back', 2),
    pending: Count('Requests that wait in the queue, also parked ones', 3),
    to_approve: Count('Requests that the caller may approve now', 1),
    failed: Count('Deployments that ended as `failed` or `rolled_back` in the last 24 hours', 1),
  },
  { description: 'How many there are of all that the caller may see' },
)

const FailureGroup = Strict({
  fingerprint: NullableText('The kind of the failure; null: no explanation has one', 'port-in-use'),
  summary: Text('What the first failed command of the newest of them says', 'The port 8080 is taken'),
  count: Count('How many deployments failed in this way', 1),
  deployments: describe(
    Type.Array(DeploymentSummary, { maxItems: OVERVIEW_LIMITS.deploymentsOfFailure }),
    'The newest of them',
  ),
})

const QueueReason = Strict({
  waiting_for: describe(literals(BLOCKER_CODES), 'What the requests wait for first', 'capacity'),
  pool_name: NullableText(
    'The instances that they need, with `capacity` and `instance_pool`; null: any',
    'zone=eu-west-1',
  ),
  count: Count('How many requests wait for it', 3),
  source_names: describe(
    Type.Array(Type.String(), { maxItems: OVERVIEW_LIMITS.sources }),
    'The first sources that they deploy',
    ['storefront'],
  ),
  more_sources: Count('How many further sources they deploy', 0),
})

const { id, name, status, capacity, active } = Instance.properties
const Slots = Strict({
  used: Count('Slots that deployments use now', 1),
  free: Count('Free slots of the instances that are online', 3),
  online: Count('Instances that are online', 1),
  total: Count('Instances that have joined', 1),
  instances: describe(
    Type.Array(Strict({ id, name, status, capacity, active }), { maxItems: OVERVIEW_LIMITS.instances }),
    'The instances that joined last',
  ),
})

const Freezes = Strict({
  active: describe(
    Type.Array(
      Strict({
        id: Ref('freeze', 'The freeze, by UUID'),
        name: Text('Its name', 'end of year'),
        until: NullableMoment('When its present window ends; null: nobody knows', MOMENTS.later),
      }),
    ),
    'The freezes that are in force, the first to end first',
  ),
  next: describe(
    Type.Array(
      Strict({
        id: Ref('freeze', 'The freeze, by UUID'),
        name: Text('Its name', 'end of year'),
        from: Moment('When its next window begins', MOMENTS.later),
      }),
      { maxItems: OVERVIEW_LIMITS.nextFreezes },
    ),
    'The windows that begin next, within a year',
  ),
})

const at = Moment('The clock of the database', MOMENTS.later)

export const OverviewCounts = Strict({ at, counts: Counts })

export const Overview = Strict({
  at,
  counts: Counts,
  running: describe(
    Type.Array(DeploymentSummary, { maxItems: OVERVIEW_LIMITS.running }),
    'Deployments that run: those that roll back first, then the newest',
  ),
  ended: describe(Type.Array(DeploymentSummary, { maxItems: OVERVIEW_LIMITS.ended }), 'Those that ended last'),
  failures: describe(
    Strict({
      since: Moment('24 hours before `at`', MOMENTS.made),
      total: Count('The failures since then, as `counts.failed`', 1),
      groups: describe(
        Type.Array(FailureGroup, { maxItems: OVERVIEW_LIMITS.failures }),
        'By the fingerprint of the first failed command, the most frequent first. Of more than 2,000 failures, the newest count',
      ),
    }),
    'The deployments that failed in the last 24 hours',
  ),
  queue: describe(
    Strict({
      total: Count('Requests that wait, as `counts.pending`', 3),
      first_estimated_start: NullableMoment(
        'When the first request of the queue probably starts; null: nobody knows, or none waits for a slot',
        MOMENTS.later,
      ),
      reasons: describe(
        Type.Array(QueueReason),
        'What they wait for, in the order of the queue, parked ones last. Of the requests that are not parked, the first 500 count',
      ),
    }),
    'The queue',
  ),
  slots: describe(Nullable(Slots), 'The slots of instances; null without the permission `instances:read`'),
  freezes: describe(Nullable(Freezes), 'The freezes; null without the permission `freezes:read`'),
})
