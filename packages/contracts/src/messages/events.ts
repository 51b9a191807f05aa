import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { DEPLOYMENT_STATES, PENDING_STATES } from '@slipway/domain'
import { literals, Nullable, Strict, Uuid } from '../schema.ts'

const event = <const S extends TSchema>(body: S) => ({ body })

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

/** `previous_tenant_id`: whose it was, where that has changed. */
const ofTenant = { tenant_id: Nullable(Uuid), previous_tenant_id: Type.Optional(Nullable(Uuid)) }

/** `tenant_id`: of an instance that serves one tenant only; absent or null otherwise. */
const instanceChange = Strict({ instance_id: Uuid, tenant_id: Type.Optional(Nullable(Uuid)) })

export const RUN_OUTCOMES = ['success', 'failed', 'rolled_back'] as const
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** Facts, published after the change they tell of was committed. The routing key is the type. */
export const EVENTS = {
  'deployment.created': event(deploymentChange),
  'deployment.updated': event(deploymentChange),
  'pending.created': event(pendingChange),
  'pending.updated': event(pendingChange),
  'instance.created': event(instanceChange),
  'instance.updated': event(instanceChange),
  'instance.deleted': event(instanceChange),
  'target.created': event(Strict({ target_id: Uuid, tenant_id: Nullable(Uuid) })),
  'target.updated': event(Strict({ target_id: Uuid, ...ofTenant })),
  'target.deleted': event(Strict({ target_id: Uuid, tenant_id: Nullable(Uuid) })),
  'freeze.created': event(Strict({ freeze_id: Uuid, tenant_id: Nullable(Uuid) })),
  'freeze.updated': event(Strict({ freeze_id: Uuid, ...ofTenant })),
  'freeze.deleted': event(Strict({ freeze_id: Uuid, tenant_id: Nullable(Uuid) })),
  /** The instance began to undo what it did. */
  'run.rolling_back': event(Strict({ deployment_id: Uuid, epoch: Type.Integer() })),
  'run.finished': event(
    Strict({
      deployment_id: Uuid,
      epoch: Type.Integer(),
      outcome: literals(RUN_OUTCOMES),
      error_message: Nullable(Type.String()),
    }),
  ),
  /** The instance ended what it ran of a run that it was told to stop; of these steps the targets did not say so. */
  'run.stopped': event(
    Strict({
      deployment_id: Uuid,
      epoch: Type.Integer(),
      unconfirmed: Type.Array(Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })])),
    }),
  ),
  /** The instance cannot start the run now; another instance gets it. */
  'run.declined': event(Strict({ deployment_id: Uuid, epoch: Type.Integer() })),
  /** A lease of this instance began or ended: the bridges end its waiting sync. A lost event costs one poll. */
  'lease.changed': event(Strict({ instance_id: Uuid })),
  /** Something that this user showed us is good no more: streams opened with it end. */
  'user.revoked': event(Strict({ user_id: Uuid })),
  'slot.freed': event(Strict({ instance_id: Uuid })),
} as const

export type EventType = keyof typeof EVENTS
export type EventBody<T extends EventType> = Static<(typeof EVENTS)[T]['body']>
