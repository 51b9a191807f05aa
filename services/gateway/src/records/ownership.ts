import { own, requireOwn, type Viewer, visible } from '@slipway/database/read-models'
import type { Permission } from '@slipway/domain'

/** Who sees and changes the records of a kind. */
export interface Ownership<Row> {
  /** For Prisma: the records that a viewer sees. */
  seenBy(viewer: Viewer): object
  /** @throws Problem for a record that the viewer sees, but must not change */
  requireChangeable(viewer: Viewer, row: Row, permission: Permission): void
  /** The tenant in audit records and events. */
  tenantOf(record: Owned): string | null
}

/** A record with the tenant that owns it, if its kind has tenants. */
interface Owned {
  id: string
  tenant_id?: string | null
}

interface OfTenant {
  tenant_id: string | null
}

/** Records of a tenant. Those without a tenant are shared: every tenant sees and uses them. */
export const SHARED: Ownership<OfTenant> = {
  seenBy: visible,
  requireChangeable: requireOwn,
  tenantOf: ({ tenant_id = null }) => tenant_id,
}

/** Records of a tenant. Only users without a tenant see those without a tenant. */
export const PRIVATE: Ownership<OfTenant> = {
  seenBy: own,
  requireChangeable() {},
  tenantOf: ({ tenant_id = null }) => tenant_id,
}

/** Records that belong to no tenant. Everybody sees them. */
export const INSTALLATION: Ownership<object> = {
  seenBy: () => ({}),
  requireChangeable() {},
  tenantOf: () => null,
}
