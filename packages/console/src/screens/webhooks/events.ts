import type { Item } from '@slipway/client'

export type WebhookEvent = Item<'listWebhooks'>['events'][number]

/** What each event tells. */
export const EVENTS: Record<WebhookEvent, string> = {
  'deployment.queued': 'A deployment waits in the queue',
  'deployment.approval_needed': 'A deployment needs approvals',
  'deployment.approved': 'A deployment has all its approvals',
  'deployment.rejected': 'A deployment was rejected',
  'deployment.started': 'A deployment has started',
  'deployment.updated': 'A rollback began, or another instance took the deployment over',
  'deployment.finished': 'A deployment has reached a final state',
  'release.drifted': 'A check found a target changed since its deployment',
  'release.restored': 'A target that had drifted is in sync again, or was deployed to',
  'pending.updated': 'A request in the queue has changed',
  'pending.dispatched': 'A request in the queue has become a deployment',
  'pending.cancelled': 'A request in the queue was cancelled',
  'pending.failed': 'A request in the queue has failed',
  'target.created': 'A target was created',
  'target.updated': 'A target was changed',
  'target.deleted': 'A target was deleted',
  'freeze.created': 'A freeze was created',
  'freeze.updated': 'A freeze was changed',
  'freeze.deleted': 'A freeze was deleted',
  'instance.created': 'An instance has joined',
  'instance.updated': 'An instance has changed',
  'instance.deleted': 'An instance was removed',
}

type Kind = WebhookEvent extends `${infer K}.${string}` ? K : never

const RESOURCES: Record<Kind, string> = {
  deployment: 'deployments',
  release: 'deployments',
  pending: 'deployments',
  target: 'targets',
  freeze: 'freezes',
  instance: 'instances',
}

/** The events by kind that a user with these permissions may subscribe to. */
export function eventGroups(can: (permission: string) => boolean): { group: string; items: WebhookEvent[] }[] {
  return Object.entries(RESOURCES)
    .filter(([, resource]) => can(`${resource}:read`))
    .map(([kind]) => ({
      group: kind,
      items: (Object.keys(EVENTS) as WebhookEvent[]).filter((event) => event.startsWith(`${kind}.`)),
    }))
}
