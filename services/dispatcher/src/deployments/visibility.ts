import type { CommandBody, Permission } from '@slipway/contracts'
import { insufficientPermissions, notFound } from '@slipway/domain'

/**
 * Checks whether the caller may change a record of this tenant. Records of other tenants look as if they did not exist. Callers
 * with a tenant may use shared records, but not change them.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS
 */
export function checkMayChange(
  caller: CommandBody<'pending.cancel'>['caller'],
  tenantId: string | null,
  what: string,
  permission: Permission = 'deployments:cancel',
): void {
  if (caller.tenant_id === null || caller.tenant_id === tenantId) return
  if (tenantId !== null) throw notFound(what)
  throw insufficientPermissions(`${permission} for records that all tenants share`)
}
