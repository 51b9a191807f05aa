import type { EventHandlers, EventsOf, ItemKind, StreamResource } from '@slipway/contracts'
import type { Permission } from '@slipway/domain'

interface Resource {
  /** The name of the kind in events and items. */
  kind: ItemKind
  permission: Permission
  /** Whether every tenant sees a record of this kind that belongs to no tenant. */
  shared: boolean
}

/** The kinds of records that have a change stream. */
export const RESOURCES: Record<StreamResource, Resource> = {
  deployments: { kind: 'deployment', permission: 'deployments:read', shared: false },
  pending: { kind: 'pending', permission: 'deployments:read', shared: false },
  targets: { kind: 'target', permission: 'targets:read', shared: true },
  instances: { kind: 'instance', permission: 'instances:read', shared: true },
  freezes: { kind: 'freeze', permission: 'freezes:read', shared: true },
  releases: { kind: 'release', permission: 'deployments:read', shared: false },
}

export const isStreamResource = (name: string): name is StreamResource => Object.hasOwn(RESOURCES, name)

/** A change of a record. The present record is read when the change is sent. */
export interface Change {
  id: string
  /** The tenant of the record. Its clients and those who see all tenants get the change. Null: no tenant. */
  tenant_id: string | null
  what: 'created' | 'updated' | 'deleted'
  timestamp: string
}

/** The event messages about a record that has a change stream. */
type RecordEvent = Exclude<EventsOf<'log-stream'>, 'user.revoked'>
type TenantOfRecord = { tenant_id?: string | null; previous_tenant_id?: string | null }

/** Passes on the record and the change of each event message. */
export function changeHandlers(
  note: (resource: StreamResource, changes: Change[]) => void,
): Pick<EventHandlers<'log-stream'>, RecordEvent> {
  const noting =
    <Body extends TenantOfRecord>(resource: StreamResource, what: Change['what'], idOf: (body: Body) => string) =>
    (body: Body, { timestamp }: { timestamp: string }): void => {
      const { tenant_id = null, previous_tenant_id } = body
      const change: Change = { id: idOf(body), tenant_id, what, timestamp }
      // Clients of the former tenant no longer see the record, so they get a deletion. The others get the change itself.
      const gone: Change[] =
        previous_tenant_id === undefined ? [] : [{ ...change, tenant_id: previous_tenant_id, what: 'deleted' }]
      note(resource, [...gone, change])
    }
  return {
    'deployment.created': noting('deployments', 'created', ({ deployment_id }) => deployment_id),
    'deployment.updated': noting('deployments', 'updated', ({ deployment_id }) => deployment_id),
    'pending.created': noting('pending', 'created', ({ pending_request_id }) => pending_request_id),
    'pending.updated': noting('pending', 'updated', ({ pending_request_id }) => pending_request_id),
    'pending.approval_needed': noting('pending', 'updated', ({ pending_request_id }) => pending_request_id),
    'pending.approved': noting('pending', 'updated', ({ pending_request_id }) => pending_request_id),
    'pending.rejected': noting('pending', 'updated', ({ pending_request_id }) => pending_request_id),
    'release.drifted': noting('releases', 'updated', ({ release_id }) => release_id),
    'release.restored': noting('releases', 'updated', ({ release_id }) => release_id),
    'target.created': noting('targets', 'created', ({ target_id }) => target_id),
    'target.updated': noting('targets', 'updated', ({ target_id }) => target_id),
    'target.deleted': noting('targets', 'deleted', ({ target_id }) => target_id),
    'instance.created': noting('instances', 'created', ({ instance_id }) => instance_id),
    'instance.updated': noting('instances', 'updated', ({ instance_id }) => instance_id),
    'instance.deleted': noting('instances', 'deleted', ({ instance_id }) => instance_id),
    'freeze.created': noting('freezes', 'created', ({ freeze_id }) => freeze_id),
    'freeze.updated': noting('freezes', 'updated', ({ freeze_id }) => freeze_id),
    'freeze.deleted': noting('freezes', 'deleted', ({ freeze_id }) => freeze_id),
  }
}
