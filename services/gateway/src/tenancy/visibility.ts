import type { CallingUser } from '../callers/calling-user.ts'

/** Whoever reads: the tenant they are bound to, or null for those who see all. */
export type Viewer = Pick<CallingUser, 'tenant_id'>

/**
 * The one rule of who sees what: without a tenant everything, else one's own records and, where a kind of record can be
 * shared, those of no tenant. Every read of the gateway goes through one of the forms below.
 */
const sees = (viewer: Viewer) => ({ all: viewer.tenant_id === null, tenant: viewer.tenant_id })

/** For Prisma: records with `tenant_id` that may be shared (sources, targets, environments, freezes). */
export function visible(viewer: Viewer): { OR?: { tenant_id: string | null }[] } {
  const { all, tenant } = sees(viewer)
  return all ? {} : { OR: [{ tenant_id: tenant }, { tenant_id: null }] }
}

/** For Prisma: records that are never shared (users, webhooks). Those of no tenant are for callers of none. */
export function own(viewer: Viewer): { tenant_id?: string } {
  const { all, tenant } = sees(viewer)
  return all || tenant === null ? {} : { tenant_id: tenant }
}

/** For Prisma: the tenants themselves; nobody shares one. */
export function visibleTenants(viewer: Viewer): { id?: string } {
  const { all, tenant } = sees(viewer)
  return all || tenant === null ? {} : { id: tenant }
}

/** For SQL: a condition on the table with this alias. The statement's parameter `tenant_id` is the viewer's. */
export function visibleSql(alias: string): string {
  return `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id OR ${alias}.tenant_id IS NULL)`
}

/** The same for what is never shared: deployments and requests that wait. Those of no tenant are for callers of none. */
export function ownSql(alias: string): string {
  return `(:tenant_id::uuid IS NULL OR ${alias}.tenant_id = :tenant_id)`
}
