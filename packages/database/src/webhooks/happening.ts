import type { Envelope, EventBody, WebhookEvent } from '@slipway/contracts'
import { isFinalDeploymentState, type PendingState } from '@slipway/domain'
import type { ItemKind } from '../items/list-item.ts'

/** A message as webhooks tell of it. */
export interface Happening {
  event: WebhookEvent
  kind: ItemKind
  id: string
  tenant_id: string | null
  /** Whether every tenant sees a record of this kind that belongs to none. */
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

/** What webhooks are told of this message; null for one that is not for them. */
export function happeningOf({ type, body }: Pick<Envelope, 'type' | 'body'>): Happening | null {
  switch (type) {
    case 'deployment.created':
      return ofDeployment('deployment.started', body as EventBody<'deployment.created'>)
    case 'deployment.updated': {
      const { state } = body as EventBody<'deployment.updated'>
      const event = isFinalDeploymentState(state) ? 'deployment.finished' : 'deployment.updated'
      return ofDeployment(event, body as EventBody<'deployment.updated'>)
    }
    case 'pending.created':
      return ofRequest('deployment.queued', body as EventBody<'pending.created'>)
    case 'pending.updated': {
      const { status } = body as EventBody<'pending.updated'>
      return ofRequest(PENDING_EVENTS[status], body as EventBody<'pending.updated'>)
    }
    case 'target.created':
    case 'target.updated':
    case 'target.deleted': {
      const { target_id: id, tenant_id } = body as EventBody<'target.created'>
      return { event: type, kind: 'target', id, tenant_id, shared: true, gone: type === 'target.deleted' }
    }
    case 'freeze.created':
    case 'freeze.updated':
    case 'freeze.deleted': {
      const { freeze_id: id, tenant_id } = body as EventBody<'freeze.created'>
      return { event: type, kind: 'freeze', id, tenant_id, shared: true, gone: type === 'freeze.deleted' }
    }
    case 'instance.created':
    case 'instance.updated':
    case 'instance.deleted': {
      const { instance_id: id, tenant_id = null } = body as EventBody<'instance.created'>
      return { event: type, kind: 'instance', id, tenant_id, shared: true, gone: type === 'instance.deleted' }
    }
    default:
      return null
  }
}

const ofDeployment = (event: WebhookEvent, { deployment_id: id, tenant_id }: EventBody<'deployment.created'>) =>
  ({ event, kind: 'deployment', id, tenant_id, shared: false, gone: false }) as const

const ofRequest = (event: WebhookEvent, { pending_request_id: id, tenant_id }: EventBody<'pending.created'>) =>
  ({ event, kind: 'pending', id, tenant_id, shared: false, gone: false }) as const
