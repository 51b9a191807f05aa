import type { EventBody, EventType, ItemKind, WebhookEvent } from '@slipway/contracts'
import { isFinalDeploymentState, type PendingState } from '@slipway/domain'

/** The record that a webhook event is about. */
export interface WebhookRecord {
  event: WebhookEvent
  kind: ItemKind
  id: string
  tenant_id: string | null
  /** Whether every tenant sees a record of this kind that belongs to no tenant. */
  shared: boolean
  gone: boolean
}

const PENDING_EVENTS: Record<PendingState, WebhookEvent> = {
  pending: 'pending.updated',
  processing: 'pending.updated',
  dispatched: 'pending.dispatched',
  cancelled: 'pending.cancelled',
  failed: 'pending.failed',
}

type EventOf<T extends EventType> = (body: EventBody<T>) => WebhookRecord | null

const notForWebhooks = () => null

const ofDeployment = (
  event: WebhookEvent,
  { deployment_id: id, tenant_id }: EventBody<'deployment.created'>,
): WebhookRecord => ({ event, kind: 'deployment', id, tenant_id, shared: false, gone: false })

const ofRequest = (event: WebhookEvent, body: EventBody<'pending.created'>): WebhookRecord => {
  const { pending_request_id: id, tenant_id } = body
  return { event, kind: 'pending', id, tenant_id, shared: false, gone: false }
}

const ofRelease = (
  event: WebhookEvent,
  { release_id: id, tenant_id }: EventBody<'release.drifted'>,
): WebhookRecord => ({ event, kind: 'release', id, tenant_id, shared: false, gone: false })

/** A record that every tenant sees if it belongs to no tenant. */
const ofShared =
  <Body extends { tenant_id?: string | null }>(
    event: WebhookEvent & EventType,
    kind: ItemKind,
    idOf: (body: Body) => string,
  ) =>
  (body: Body): WebhookRecord => {
    const { tenant_id = null } = body
    return { event, kind, id: idOf(body), tenant_id, shared: true, gone: event === `${kind}.deleted` }
  }

const targetId = ({ target_id }: EventBody<'target.created'>) => target_id
const freezeId = ({ freeze_id }: EventBody<'freeze.created'>) => freeze_id
const instanceId = ({ instance_id }: EventBody<'instance.created'>) => instance_id

const TRANSLATIONS: { [T in EventType]: EventOf<T> } = {
  'deployment.created': (body) => ofDeployment('deployment.started', body),
  'deployment.updated': (body) =>
    ofDeployment(isFinalDeploymentState(body.state) ? 'deployment.finished' : 'deployment.updated', body),
  'pending.created': (body) => ofRequest('deployment.queued', body),
  'pending.updated': (body) => ofRequest(PENDING_EVENTS[body.status], body),
  'pending.approval_needed': (body) => ofRequest('deployment.approval_needed', body),
  'pending.approved': (body) => ofRequest('deployment.approved', body),
  'pending.rejected': (body) => ofRequest('deployment.rejected', body),
  'release.drifted': (body) => ofRelease('release.drifted', body),
  'release.restored': (body) => ofRelease('release.restored', body),
  'target.created': ofShared('target.created', 'target', targetId),
  'target.updated': ofShared('target.updated', 'target', targetId),
  'target.deleted': ofShared('target.deleted', 'target', targetId),
  'freeze.created': ofShared('freeze.created', 'freeze', freezeId),
  'freeze.updated': ofShared('freeze.updated', 'freeze', freezeId),
  'freeze.deleted': ofShared('freeze.deleted', 'freeze', freezeId),
  'instance.created': ofShared('instance.created', 'instance', instanceId),
  'instance.updated': ofShared('instance.updated', 'instance', instanceId),
  'instance.deleted': ofShared('instance.deleted', 'instance', instanceId),
  'target.moved': notForWebhooks,
  'rules.changed': notForWebhooks,
  'run.rolling_back': notForWebhooks,
  'run.finished': notForWebhooks,
  'run.stopped': notForWebhooks,
  'run.declined': notForWebhooks,
  'lease.changed': notForWebhooks,
  'user.revoked': notForWebhooks,
  'slot.freed': notForWebhooks,
}

/** The webhook event of an event message; null if webhooks do not receive it. */
export function webhookEventOf<T extends EventType>(type: T, body: EventBody<T>): WebhookRecord | null {
  const translate: EventOf<T> = TRANSLATIONS[type]
  return translate(body)
}
