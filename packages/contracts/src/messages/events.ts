import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { DEPLOYMENT_STATES, PENDING_STATES } from '@slipway/domain'
import { literals, Nullable, Strict, Uuid } from '../schema.ts'

/** Services that get events. The dispatcher has a durable queue; the others get events only while they are connected. */
export type Subscriber = 'dispatcher' | 'executor-bridge' | 'log-stream'

const event = <const S extends TSchema, const To extends Subscriber>(body: S, ...subscribers: To[]) => ({
  body,
  subscribers,
})

const deploymentChange = Strict({
  deployment_id: Uuid,
  tenant_id: Nullable(Uuid),
  state: literals(DEPLOYMENT_STATES),
})

const pendingChange = Strict({
  pending_request_id: Uuid,
  tenant_id: Nullable(Uuid),
  status: literals(PENDING_STATES),
})

/** The tenant of the deployment in force. */
const releaseChange = Strict({ release_id: Uuid, tenant_id: Nullable(Uuid) })

/** `previous_tenant_id` is present if the tenant of the record has changed. */
const ofTenant = { tenant_id: Nullable(Uuid), previous_tenant_id: Type.Optional(Nullable(Uuid)) }

/** `tenant_id` is absent or null if the instance serves all tenants. */
const instanceChange = Strict({ instance_id: Uuid, tenant_id: Type.Optional(Nullable(Uuid)) })

export const RUN_OUTCOMES = ['success', 'failed', 'rolled_back'] as const
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** Why a run did not end with success. */
export const RUN_FAILURE_REASONS = [
  'command_failed',
  'deployment_timeout',
  'nothing_completed',
  'not_started',
  'illegal_event',
] as const
export type RunFailureReason = (typeof RUN_FAILURE_REASONS)[number]

/** How a run ended, in the report of the instance and in the event of the bridge. */
export const runEnd = {
  outcome: literals(RUN_OUTCOMES),
  /** Null or absent after a success. */
  reason: Type.Optional(Nullable(literals(RUN_FAILURE_REASONS))),
}

/** Events with their subscribers. They are published after the commit of their change. The routing key is the type. */
export const EVENTS = {
  'deployment.created': event(deploymentChange, 'log-stream'),
  'deployment.updated': event(deploymentChange, 'log-stream'),
  'pending.created': event(pendingChange, 'log-stream'),
  'pending.updated': event(pendingChange, 'log-stream'),
  /** A rule of an environment asks for approvals: once for a request. */
  'pending.approval_needed': event(pendingChange, 'log-stream'),
  /** The last approval is given. */
  'pending.approved': event(pendingChange, 'log-stream'),
  'pending.rejected': event(pendingChange, 'log-stream'),
  /** A check found a target changed. The id is that of the row in `release_checks`. */
  'release.drifted': event(releaseChange, 'log-stream'),
  /** A check found the target in sync again, or another release is in force there now. */
  'release.restored': event(releaseChange, 'log-stream'),
  'instance.created': event(instanceChange, 'dispatcher', 'log-stream'),
  'instance.updated': event(instanceChange, 'dispatcher', 'log-stream'),
  'instance.deleted': event(instanceChange, 'dispatcher', 'executor-bridge', 'log-stream'),
  'target.created': event(Strict({ target_id: Uuid, tenant_id: Nullable(Uuid) }), 'log-stream'),
  'target.updated': event(Strict({ target_id: Uuid, ...ofTenant }), 'log-stream'),
  'target.deleted': event(Strict({ target_id: Uuid, tenant_id: Nullable(Uuid) }), 'log-stream'),
  /** The tenant or the environment of a target is another one: other rules count for requests that select it. */
  'target.moved': event(Strict({ target_id: Uuid }), 'dispatcher'),
  /** The rules of an environment are others. */
  'rules.changed': event(Strict({ environment_id: Uuid }), 'dispatcher'),
  'freeze.created': event(Strict({ freeze_id: Uuid, tenant_id: Nullable(Uuid) }), 'dispatcher', 'log-stream'),
  'freeze.updated': event(Strict({ freeze_id: Uuid, ...ofTenant }), 'dispatcher', 'log-stream'),
  'freeze.deleted': event(Strict({ freeze_id: Uuid, tenant_id: Nullable(Uuid) }), 'dispatcher', 'log-stream'),
  'run.rolling_back': event(Strict({ deployment_id: Uuid, epoch: Type.Integer() }), 'dispatcher'),
  'run.finished': event(
    Strict({
      deployment_id: Uuid,
      epoch: Type.Integer(),
      ...runEnd,
      error_message: Nullable(Type.String()),
    }),
    'dispatcher',
  ),
  /** The instance ended the commands of a stopped run. For the `unconfirmed` steps, the targets did not confirm the end. */
  'run.stopped': event(
    Strict({
      deployment_id: Uuid,
      epoch: Type.Integer(),
      unconfirmed: Type.Array(Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })])),
    }),
    'dispatcher',
  ),
  /** The instance cannot start the run now. Another instance gets the run. */
  'run.declined': event(Strict({ deployment_id: Uuid, epoch: Type.Integer() }), 'dispatcher'),
  /** A lease of this instance began or ended, so the bridges end its waiting sync. A lost event delays the change by one sync. */
  'lease.changed': event(Strict({ instance_id: Uuid }), 'executor-bridge'),
  /** A credential of this user is no longer valid. Streams that were opened with it end. */
  'user.revoked': event(Strict({ user_id: Uuid }), 'log-stream'),
  'slot.freed': event(Strict({ instance_id: Uuid }), 'dispatcher'),
} as const

export type EventType = keyof typeof EVENTS
export type EventBody<T extends EventType> = Static<(typeof EVENTS)[T]['body']>

export type EventsOf<S extends Subscriber> = {
  [T in EventType]: S extends (typeof EVENTS)[T]['subscribers'][number] ? T : never
}[EventType]

const isFor =
  <S extends Subscriber>(subscriber: S) =>
  (type: EventType): type is EventsOf<S> =>
    EVENTS[type].subscribers.some((each) => each === subscriber)

export const isEvent = (type: string): type is EventType => Object.hasOwn(EVENTS, type)

export const eventsOf = <S extends Subscriber>(subscriber: S): EventsOf<S>[] =>
  Object.keys(EVENTS).filter(isEvent).filter(isFor(subscriber))
