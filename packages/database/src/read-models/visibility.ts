import { insufficientPermissions, notFound, type Permission } from '@slipway/domain'

/** The user whom an answer is for: of a tenant or, with null, of none. */
export interface Viewer {
  tenant_id: string | null
}

// The one rule of what users see. A user without a tenant sees all records. Other users see the records of their tenant and, of
// kinds that can be shared, those without a tenant. Every statement that reads for a user contains one of these conditions.

/** For Prisma: kinds that can be shared (sources, targets, environments, freezes). */
export const visible = ({ tenant_id }: Viewer) =>
  tenant_id === null ? {} : { OR: [{ tenant_id }, { tenant_id: null }] }

/** For Prisma: kinds that are never shared (users, webhooks). */
export const own = ({ tenant_id }: Viewer) => (tenant_id === null ? {} : { tenant_id })

/** For Prisma: the tenants themselves. */
export const visibleTenants = ({ tenant_id }: Viewer) => (tenant_id === null ? {} : { id: tenant_id })

/** For SQL: kinds that can be shared. The statement needs the parameter `tenant_id` of the viewer. */
export const visibleSql = (alias: string) =>
  `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id OR ${alias}.tenant_id IS NULL)`

/** For SQL: kinds that are never shared (deployments, pending requests, releases). */
export const ownSql = (alias: string) => `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id)`

/** For SQL: the tenants themselves. */
export const visibleTenantsSql = (alias: string) => `(:tenant_id::uuid IS NULL OR ${alias}.id = :tenant_id)`

/** For a record that is already read. `canBeShared` says whether its kind can be shared. */
export function isVisible({ tenant_id }: Viewer, record: { tenant_id?: string | null }, canBeShared: boolean): boolean {
  const owner = record.tenant_id ?? null
  return tenant_id === null || owner === tenant_id || (canBeShared && owner === null)
}

/**
 * Users of a tenant may read and use shared records, but not change them.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireOwn(viewer: Viewer, record: { tenant_id: string | null }, permission: Permission): void {
  if (viewer.tenant_id !== null && record.tenant_id === null) {
    throw insufficientPermissions(`${permission} for shared records, which only users of no tenant have`)
  }
}

/**
 * Returns the record if the viewer may change it. Records of other tenants look as if they did not exist. `what` names the record in
 * the error.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS
 */
export function requireChangeable<R extends { tenant_id: string | null }>(
  viewer: Viewer,
  record: R | null,
  permission: Permission,
  what: string,
): R {
  if (record === null || !isVisible(viewer, record, true)) throw notFound(what)
  requireOwn(viewer, record, permission)
  return record
}
