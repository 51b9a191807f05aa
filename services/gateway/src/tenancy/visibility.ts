import type { CallingUser } from '../callers/calling-user.ts'

/** The reader of records, bound to a tenant or, with null, to none. */
export type Viewer = Pick<CallingUser, 'tenant_id'>

// Every read of the gateway uses one of these conditions. A viewer without tenant sees all records. Other viewers see the
// records of their tenant and, of kinds that can be shared, those without tenant.

/** For Prisma: kinds that can be shared (sources, targets, environments, freezes). */
export const visible = ({ tenant_id }: Viewer) =>
  tenant_id === null ? {} : { OR: [{ tenant_id }, { tenant_id: null }] }

/** For Prisma: kinds that are never shared (users, webhooks). */
export const own = ({ tenant_id }: Viewer) => (tenant_id === null ? {} : { tenant_id })

/** For Prisma: the tenants themselves. */
export const visibleTenants = ({ tenant_id }: Viewer) => (tenant_id === null ? {} : { id: tenant_id })

/** For SQL: kinds that can be shared. The statement needs the parameter `tenant_id` of the viewer. */
export function visibleSql(alias: string): string {
  return `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id OR ${alias}.tenant_id IS NULL)`
}

/** For SQL: kinds that are never shared (deployments, pending requests). */
export function ownSql(alias: string): string {
  return `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id)`
}
