import type { Envelope, Permission, StreamResource } from '@slipway/contracts'
import type { ItemKind } from '@slipway/database'

interface Resource {
  /** As events and items name it. */
  kind: ItemKind
  permission: Permission
  /** Where an event has its id. */
  id: string
  /** Whether every tenant sees a record of this kind that belongs to none. */
  shared: boolean
}

/** What can be listened to. */
export const RESOURCES: Record<StreamResource, Resource> = {
  deployments: { kind: 'deployment', permission: 'deployments:read', id: 'deployment_id', shared: false },
  pending: { kind: 'pending', permission: 'deployments:read', id: 'pending_request_id', shared: false },
  targets: { kind: 'target', permission: 'targets:read', id: 'target_id', shared: true },
  instances: { kind: 'instance', permission: 'instances:read', id: 'instance_id', shared: true },
  freezes: { kind: 'freeze', permission: 'freezes:read', id: 'freeze_id', shared: true },
}

/** Routing keys of the events that tell of them. */
export const ROUTING_KEYS = Object.values(RESOURCES).map(({ kind }) => `${kind}.*`)

export const isStreamResource = (name: string): name is StreamResource => Object.hasOwn(RESOURCES, name)

/** Something that happened to a record. What it is now is read when it is told. */
export interface Change {
  id: string
  /** Whose it is, null for nobody's: they and those who see all are told. */
  tenant_id: string | null
  what: 'created' | 'updated' | 'deleted'
  timestamp: string
}

const BY_KIND = new Map<string, [StreamResource, Resource]>(
  Object.entries(RESOURCES).map(([name, resource]) => [resource.kind, [name as StreamResource, resource]]),
)

/** What an event says has happened, and to what; null for one that tells of no record. */
export function changesOf({ type, body, timestamp }: Envelope): { resource: StreamResource; changes: Change[] } | null {
  const [kind = '', what] = type.split('.')
  const [resource, { id = '' } = {}] = BY_KIND.get(kind) ?? []
  if (resource === undefined || (what !== 'created' && what !== 'updated' && what !== 'deleted')) return null
  const fields = body as Record<string, string | null | undefined>
  const { tenant_id = null, previous_tenant_id } = fields
  const change: Change = { id: fields[id] ?? '', tenant_id, what, timestamp }
  // Whose it was sees it no longer; who sees it still is told by the change itself.
  const gone: Change[] =
    previous_tenant_id === undefined ? [] : [{ ...change, tenant_id: previous_tenant_id, what: 'deleted' }]
  return { resource, changes: [...gone, change] }
}
